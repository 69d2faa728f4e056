# Checks a record against its JSON Schema (draft 2020-12, the keywords that ours use):
#
#   jq -r --slurpfile schema schemas/NAME.json -f tests/lib/schema.jq RECORD
#
# prints one line for each fault, and nothing when there is none. A keyword that is
# not known here is a fault too, so that no part of a schema goes unchecked.

def is_type($t):
  if $t == "integer" then type == "number" and . == floor else type == $t end;

def faults($s; $root; $at):
  . as $v |
  if $s == true then empty
  elif $s == false then "\($at): must not be there"
  else ($s | keys_unsorted[]) as $k | $s[$k] as $w |
    if $k == "$schema" or $k == "$id" or $k == "title" or $k == "description" or $k == "$defs"
       or $k == "then" or $k == "else" or $k == "examples" or $k == "$comment" then empty
    elif $k == "$ref" then
      $v | faults($root | getpath($w | ltrimstr("#/") | split("/")); $root; $at)
    elif $k == "type" then
      ([$w] | flatten) as $types
      | if any($types[]; . as $t | $v | is_type($t)) then empty
        else "\($at): \($v | type), not \($types | join(" or "))" end
    elif $k == "const" then if $v == $w then empty else "\($at): not \($w)" end
    elif $k == "enum" then
      if any($w[]; . == $v) then empty else "\($at): \($v) is none of \($w)" end
    elif $k == "required" then
      if $v | type != "object" then empty
      else $w[] | . as $name | if $v | has($name) then empty else "\($at).\($name): missing" end
      end
    elif $k == "properties" then
      if $v | type != "object" then empty
      else ($w | keys_unsorted[]) as $name
        | if $v | has($name) then $v[$name] | faults($w[$name]; $root; "\($at).\($name)")
          else empty end
      end
    elif $k == "additionalProperties" then
      if $v | type != "object" then empty
      else ($v | keys_unsorted[]) as $name
        | if ($s.properties // {}) | has($name) then empty
          else $v[$name] | faults($w; $root; "\($at).\($name)") end
      end
    elif $k == "items" then
      if $v | type != "array" then empty
      else range($v | length) as $i | $v[$i] | faults($w; $root; "\($at)[\($i)]") end
    elif $k == "minItems" then
      if ($v | type != "array") or ($v | length) >= $w then empty
      else "\($at): fewer than \($w)" end
    elif $k == "maxItems" then
      if ($v | type != "array") or ($v | length) <= $w then empty
      else "\($at): more than \($w)" end
    elif $k == "pattern" then
      if ($v | type != "string") or ($v | test($w)) then empty
      else "\($at): \($v) does not match \($w)" end
    elif $k == "minLength" then
      if ($v | type != "string") or ($v | length) >= $w then empty
      else "\($at): shorter than \($w)" end
    elif $k == "maxLength" then
      if ($v | type != "string") or ($v | length) <= $w then empty
      else "\($at): longer than \($w)" end
    elif $k == "minimum" then
      if ($v | type != "number") or $v >= $w then empty else "\($at): less than \($w)" end
    elif $k == "maximum" then
      if ($v | type != "number") or $v <= $w then empty else "\($at): more than \($w)" end
    elif $k == "if" then
      if [$v | faults($w; $root; $at)] == []
      then $v | faults($s.then // true; $root; $at)
      else $v | faults(if $s | has("else") then $s.else else true end; $root; $at) end
    elif $k == "allOf" then $w[] as $one | $v | faults($one; $root; $at)
    elif $k == "anyOf" then
      if any($w[]; . as $one | [$v | faults($one; $root; $at)] == []) then empty
      else "\($at): fits none of anyOf" end
    elif $k == "oneOf" then
      if ([$w[] | . as $one | select([$v | faults($one; $root; $at)] == [])] | length) == 1
      then empty else "\($at): does not fit exactly one of oneOf" end
    else "\($at): the schema has \($k), which is not checked here"
    end
  end;

if ($schema | length) != 1 then "there is no schema"
else faults($schema[0]; $schema[0]; "record") end
