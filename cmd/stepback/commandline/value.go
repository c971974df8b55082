package commandline

import (
	"reflect"
	"strconv"
	"strings"
)

// Value is an argument of a verb, or the value of a flag.
type Value struct {
	Name, Help string
	// Enum are the values that may be given; nil when there is no limit.
	Enum []string
	// Required says that the line, the environment or a default must give the value.
	Required bool

	flag       *Flag // nil for an argument
	optional   bool
	hasDefault bool
	byDefault  string
	envs       []string
	kind       string // the tag type
	sep        rune   // between elements; noSep when one is given at a time
	typeName   string
	target     reflect.Value
	decode     decoder

	set bool // by the line, the environment or the default
}

// Flag is a value that is named on the line.
type Flag struct {
	*Value
	// Short is the letter for it behind a single dash; 0 when it has none.
	Short rune
	// Group is the heading of the flag in the help; empty for Flags.
	Group  string
	Hidden bool

	placeholder   string
	xor           []string
	help, version bool // print and do nothing else
}

const noSep rune = -1

// IsBool says whether the flag needs no value.
func (v *Value) IsBool() bool {
	t := v.target.Type()
	return t.Kind() == reflect.Bool || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Bool
}

func (v *Value) isSlice() bool {
	return v.target.Kind() == reflect.Slice && v.target.Type().Name() == ""
}

func (v *Value) isMap() bool { return v.target.Kind() == reflect.Map }

// called is how errors name the value.
func (v *Value) called() string {
	if v.flag != nil {
		return "--" + v.Name
	}
	return v.summary()
}

// summary is how the value stands in a usage line.
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

// placeHolder is what stands for the flag's value in its help.
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

// helpLine is the value's help with the variables of the environment that give it.
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
