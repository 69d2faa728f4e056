#include "fence/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DURATION_MAX_MS (1000LL * 24 * 3600 * 1000)

int64_t fence_now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t fence_now_ms(void)
{
	return fence_now_us() / 1000;
}

int64_t fence_deadline_ms(int64_t limit_ms)
{
	if (limit_ms == 0)
		return FENCE_NEVER;
	return fence_now_ms() + limit_ms;
}

void fence_wall_stamp(char buf[25])
{
	struct timespec now;
	struct tm parts;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &parts);
	(void)strftime(buf, 25, "%Y-%m-%dT%H:%M:%S", &parts);
	(void)snprintf(buf + 19, 6, ".%03uZ", (unsigned int)(now.tv_nsec / 1000000) % 1000u);
}

/* A decimal number as digits and a power of ten, so that no floating point (and
 * no locale) is involved: 2.5e-3 is 25 and -4. Digits that exceed 18 places are
 * counted but not kept; `lost` says that one of them was not zero. */
struct decimal {
	uint64_t digits;
	int exponent;
	bool lost;
};

static const char *scan_digits(const char *at, struct decimal *d, bool fraction, bool *any)
{
	for (; *at >= '0' && *at <= '9'; at++) {
		*any = true;
		if (d->digits < 100000000000000000ULL) {
			d->digits = d->digits * 10 + (uint64_t)(*at - '0');
			d->exponent -= fraction;
		} else {
			d->lost |= *at != '0';
			d->exponent += !fraction;
		}
	}
	return at;
}

static const char *scan_exponent(const char *at, struct decimal *d)
{
	const char *start = at;
	bool negative;
	int value = 0;

	if (*at != 'e' && *at != 'E')
		return start;
	at++;
	negative = *at == '-';
	if (*at == '-' || *at == '+')
		at++;
	if (*at < '0' || *at > '9')
		return start;
	for (; *at >= '0' && *at <= '9'; at++)
		if (value < 10000)
			value = value * 10 + (*at - '0');
	d->exponent += negative ? -value : value;
	return at;
}

/* The digits times 10^exponent, rounded up; -ERANGE above `max`. */
static int decimal_round_up(const struct decimal *d, uint64_t max, uint64_t *ret)
{
	uint64_t value = d->digits;
	bool rest = d->lost;
	int exponent = d->exponent;

	for (; exponent > 0 && value > 0; exponent--) {
		if (value > max / 10)
			return -ERANGE;
		value *= 10;
	}
	for (; exponent < 0 && value > 0; exponent++) {
		rest |= value % 10 != 0;
		value /= 10;
	}
	value += rest;
	if (value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

static int unit_exponent(const char *unit, struct decimal *d)
{
	static const struct {
		const char *name;
		int exponent; /* of ten, to nanoseconds */
		unsigned int factor;
	} units[] = {
		{ "ns", 0, 1 }, { "us", 3, 1 }, { "ms", 6, 1 },	  { "s", 9, 1 },
		{ "", 9, 1 },	{ "m", 9, 60 }, { "h", 9, 3600 }, { "d", 9, 86400 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		/* Places that no millisecond will see make room for the factor. */
		for (; d->digits > UINT64_MAX / units[i].factor; d->exponent++) {
			d->lost |= d->digits % 10 != 0;
			d->digits /= 10;
		}
		d->digits *= units[i].factor;
		d->exponent += units[i].exponent;
		return 0;
	}
	return -EINVAL;
}

int fence_parse_duration(const char *text, int64_t *ret_ms)
{
	struct decimal d = { 0 };
	bool any = false;
	uint64_t value;
	int rc;

	if (text[0] == '-')
		return -ERANGE;
	text = scan_digits(text, &d, false, &any);
	if (*text == '.')
		text = scan_digits(text + 1, &d, true, &any);
	if (!any)
		return -EINVAL;
	text = scan_exponent(text, &d);
	rc = unit_exponent(text, &d);
	if (rc < 0)
		return rc;
	d.exponent -= 6; /* nanoseconds to milliseconds */
	rc = decimal_round_up(&d, DURATION_MAX_MS, &value);
	if (rc < 0)
		return rc;
	*ret_ms = (int64_t)value;
	return 0;
}

/* Digits from `*at` on; moves it past them. */
static int scan_whole(const char **at, uint64_t *ret)
{
	uint64_t value = 0;

	if (**at < '0' || **at > '9')
		return -EINVAL;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		uint64_t digit = (uint64_t)(**at - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*ret = value;
	return 0;
}

int fence_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const struct {
		const char *name;
		uint64_t factor;
	} units[] = {
		{ "", 1 },
		{ "B", 1 },
		{ "KiB", 1ULL << 10 },
		{ "MiB", 1ULL << 20 },
		{ "GiB", 1ULL << 30 },
		{ "kB", 1000 },
		{ "MB", 1000000 },
		{ "GB", 1000000000 },
	};
	uint64_t value;
	int rc;

	if (text[0] == '-')
		return -ERANGE;
	rc = scan_whole(&text, &value);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(text, units[i].name) != 0)
			continue;
		if (value > (uint64_t)INT64_MAX / units[i].factor)
			return -ERANGE;
		*ret_bytes = value * units[i].factor;
		return 0;
	}
	return -EINVAL;
}

int fence_parse_number(const char *text, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = text[0] == '-';
	uint64_t size;
	int64_t value;
	int rc;

	text += negative;
	rc = scan_whole(&text, &size);
	if (rc < 0)
		return rc;
	if (*text != '\0')
		return -EINVAL;
	if (size > (uint64_t)INT64_MAX)
		return -ERANGE;
	value = negative ? -(int64_t)size : (int64_t)size;
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}
