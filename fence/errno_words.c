/* The words are the customary ones of strerror(3). A table of our own says the same
 * under every C library (musl words a few differently and has no names), touches no
 * locale and makes no system call, so it may be used under any filter. */
#include <errno.h>
#include <stddef.h>

#include "fence/err.h"

#define ROW(name, words) [name] = { #name, words }

static const struct {
	const char *name;
	const char *words;
} rows[] = {
	ROW(EPERM, "Operation not permitted"),
	ROW(ENOENT, "No such file or directory"),
	ROW(ESRCH, "No such process"),
	ROW(EINTR, "Interrupted system call"),
	ROW(EIO, "Input/output error"),
	ROW(ENXIO, "No such device or address"),
	ROW(E2BIG, "Argument list too long"),
	ROW(ENOEXEC, "Exec format error"),
	ROW(EBADF, "Bad file descriptor"),
	ROW(ECHILD, "No child processes"),
	ROW(EAGAIN, "Resource temporarily unavailable"),
	ROW(ENOMEM, "Cannot allocate memory"),
	ROW(EACCES, "Permission denied"),
	ROW(EFAULT, "Bad address"),
	ROW(ENOTBLK, "Block device required"),
	ROW(EBUSY, "Device or resource busy"),
	ROW(EEXIST, "File exists"),
	ROW(EXDEV, "Invalid cross-device link"),
	ROW(ENODEV, "No such device"),
	ROW(ENOTDIR, "Not a directory"),
	ROW(EISDIR, "Is a directory"),
	ROW(EINVAL, "Invalid argument"),
	ROW(ENFILE, "Too many open files in system"),
	ROW(EMFILE, "Too many open files"),
	ROW(ENOTTY, "Inappropriate ioctl for device"),
	ROW(ETXTBSY, "Text file busy"),
	ROW(EFBIG, "File too large"),
	ROW(ENOSPC, "No space left on device"),
	ROW(ESPIPE, "Illegal seek"),
	ROW(EROFS, "Read-only file system"),
	ROW(EMLINK, "Too many links"),
	ROW(EPIPE, "Broken pipe"),
	ROW(EDOM, "Numerical argument out of domain"),
	ROW(ERANGE, "Numerical result out of range"),
	ROW(EDEADLK, "Resource deadlock avoided"),
	ROW(ENAMETOOLONG, "File name too long"),
	ROW(ENOLCK, "No locks available"),
	ROW(ENOSYS, "Function not implemented"),
	ROW(ENOTEMPTY, "Directory not empty"),
	ROW(ELOOP, "Too many levels of symbolic links"),
	ROW(ENODATA, "No data available"),
	ROW(ETIME, "Timer expired"),
	ROW(EPROTO, "Protocol error"),
	ROW(EBADMSG, "Bad message"),
	ROW(EOVERFLOW, "Value too large for defined data type"),
	ROW(EILSEQ, "Invalid or incomplete multibyte or wide character"),
	ROW(EUSERS, "Too many users"),
	ROW(ENOTSOCK, "Socket operation on non-socket"),
	ROW(EDESTADDRREQ, "Destination address required"),
	ROW(EMSGSIZE, "Message too long"),
	ROW(EPROTOTYPE, "Protocol wrong type for socket"),
	ROW(ENOPROTOOPT, "Protocol not available"),
	ROW(EPROTONOSUPPORT, "Protocol not supported"),
	ROW(ESOCKTNOSUPPORT, "Socket type not supported"),
	ROW(EOPNOTSUPP, "Operation not supported"),
	ROW(EPFNOSUPPORT, "Protocol family not supported"),
	ROW(EAFNOSUPPORT, "Address family not supported by protocol"),
	ROW(EADDRINUSE, "Address already in use"),
	ROW(EADDRNOTAVAIL, "Cannot assign requested address"),
	ROW(ENETDOWN, "Network is down"),
	ROW(ENETUNREACH, "Network is unreachable"),
	ROW(ENETRESET, "Network dropped connection on reset"),
	ROW(ECONNABORTED, "Software caused connection abort"),
	ROW(ECONNRESET, "Connection reset by peer"),
	ROW(ENOBUFS, "No buffer space available"),
	ROW(EISCONN, "Transport endpoint is already connected"),
	ROW(ENOTCONN, "Transport endpoint is not connected"),
	ROW(ESHUTDOWN, "Cannot send after transport endpoint shutdown"),
	ROW(ETIMEDOUT, "Connection timed out"),
	ROW(ECONNREFUSED, "Connection refused"),
	ROW(EHOSTDOWN, "Host is down"),
	ROW(EHOSTUNREACH, "No route to host"),
	ROW(EALREADY, "Operation already in progress"),
	ROW(EINPROGRESS, "Operation now in progress"),
	ROW(ESTALE, "Stale file handle"),
	ROW(EDQUOT, "Disk quota exceeded"),
	ROW(ENOMEDIUM, "No medium found"),
	ROW(ECANCELED, "Operation canceled"),
	ROW(ENOKEY, "Required key not available"),
	ROW(EOWNERDEAD, "Owner died"),
	ROW(ENOTRECOVERABLE, "State not recoverable"),
};

const char *fence_errno_words(int code)
{
	size_t at = (size_t)(code < 0 ? -(long)code : code);

	if (at >= sizeof(rows) / sizeof(rows[0]) || rows[at].words == NULL)
		return "Unknown error";
	return rows[at].words;
}

const char *fence_errno_name(int code)
{
	size_t at = (size_t)(code < 0 ? -(long)code : code);

	return at < sizeof(rows) / sizeof(rows[0]) ? rows[at].name : NULL;
}
