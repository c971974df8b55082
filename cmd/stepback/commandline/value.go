package commandline

import (
	"reflect"
	"strconv"
	"strings"
)

// Value is an argument of a verb, or the value of a flag.
type Value struct {
	Name, Help string
	// Enum lists the allowed values; nil means any.
	Enum []string
	// Required is true if the line, the environment or a default must provide the value.
	Required bool

	flag       *Flag // nil for an argument
	optional   bool
	hasDefault bool
	byDefault  string
	envs       []string
	kind       string // the tag type
	sep        rune   // separates elements; noSep if each is given separately
	typeName   string
	target     reflect.Value
	decode     decoder

	set bool // by the line, the environment or the default
}

// Flag is a value with a name on the line.
type Flag struct {
	*Value
	// Short is its letter after a single dash; 0 if it has none.
	Short rune
	// Group is the heading of the flag in the help; empty means Flags.
	Group  string
	Hidden bool

	placeholder   string
	xor           []string
	help, version bool // print and do nothing else
}

const noSep rune = -1

// IsBool reports whether the flag needs no value.
func (v *Value) IsBool() bool {
	t := v.target.Type()
	return t.Kind() == reflect.Bool || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Bool
}

func (v *Value) isSlice() bool {
	return v.target.Kind() == reflect.Slice && v.target.Type().Name() == ""
}

func (v *Value) isMap() bool { return v.target.Kind() == reflect.Map }

// called returns the value's name for errors.
func (v *Value) called() string {
	if v.flag != nil {
		return "--" + v.Name
	}
	return v.summary()
}

// summary returns the value's form in a usage line.
func (v *Value) summary() string {
	if v.flag != nil {
		if v.IsBool() {
			return "--" + v.Name
		}
		return "--" + v.Name + "=" + v.flag.placeHolder()
	}
	s := "<" + v.Name + ">"
	if v.isSlice() || v.isMap() {
		s += " ..."
	}
	if !v.Required {
		s = "[" + s + "]"
	}
	return s
}

// placeHolder returns the text that represents the flag's value in its help.
func (f *Flag) placeHolder() string {
	tail := ""
	if f.isSlice() && f.sep != noSep && f.kind == "" {
		tail = string(f.sep) + "..."
	}
	switch {
	case f.placeholder != "":
		return f.placeholder + tail
	case f.hasDefault && f.target.Kind() == reflect.String:
		return strconv.Quote(f.byDefault) + tail
	case f.hasDefault:
		return f.byDefault + tail
	case f.isMap():
		return "KEY=VALUE" + string(mapSep) + "..."
	case f.typeName != "":
		return strings.ToUpper(dashed(f.typeName)) + tail
	default:
		return strings.ToUpper(f.Name) + tail
	}
}

// helpLine returns the value's help with its environment variables.
func (v *Value) helpLine() string {
	if len(v.envs) == 0 {
		return v.Help
	}
	suffix := "($" + strings.Join(v.envs, ", $") + ")"
	switch {
	case strings.HasSuffix(v.Help, "."):
		return strings.TrimSuffix(v.Help, ".") + " " + suffix + "."
	case v.Help == "":
		return suffix
	default:
		return v.Help + " " + suffix
	}
}
