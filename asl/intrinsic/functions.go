package intrinsic

import (
	"fmt"
	"maps"
	"slices"
)

// function is one intrinsic function and the number of arguments it takes.
type function struct {
	least, most int // most < 0: any number
	apply       apply
	// prepare, if set, may return a faster apply for the given arguments. It returns nil if there is none.
	prepare func(arguments []argument) apply
}

// functions contains all intrinsic functions. Names and arguments follow the service's documentation; results follow
// recordings of the service.
var functions = map[string]function{
	"States.Array":          {0, -1, array, nil},
	"States.ArrayContains":  {2, 2, arrayContains, nil},
	"States.ArrayGetItem":   {2, 2, arrayGetItem, nil},
	"States.ArrayLength":    {1, 1, arrayLength, nil},
	"States.ArrayPartition": {2, 2, arrayPartition, nil},
	"States.ArrayRange":     {3, 3, arrayRange, nil},
	"States.ArrayUnique":    {1, 1, arrayUnique, nil},
	"States.Base64Decode":   {1, 1, base64Decode, nil},
	"States.Base64Encode":   {1, 1, base64Encode, nil},
	"States.Format":         {1, -1, format, prepareFormat},
	"States.Hash":           {2, 2, hash, nil},
	"States.JsonMerge":      {3, 3, jsonMerge, nil},
	"States.JsonToString":   {1, 1, jsonToString, nil},
	"States.MathAdd":        {2, 2, mathAdd, nil},
	"States.MathRandom":     {2, 3, mathRandom, nil},
	"States.StringSplit":    {2, 2, stringSplit, nil},
	"States.StringToJson":   {1, 1, stringToJSON, nil},
	"States.UUID":           {0, 0, uuid, nil},
}

// Functions returns the names of the intrinsic functions, such as States.Format, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(functions)) }

// accepts returns the problem if a function cannot take n arguments; "" if it can.
func (f function) accepts(n int) string {
	if n >= f.least && (f.most < 0 || n <= f.most) {
		return ""
	}
	switch {
	case f.most < 0:
		return fmt.Sprintf("takes at least %s, found %d", counted(f.least), n)
	case f.least == f.most:
		return fmt.Sprintf("takes %s, found %d", counted(f.least), n)
	default:
		return fmt.Sprintf("takes %d to %s, found %d", f.least, counted(f.most), n)
	}
}

func counted(arguments int) string {
	switch arguments {
	case 0:
		return "no arguments"
	case 1:
		return "1 argument"
	default:
		return fmt.Sprintf("%d arguments", arguments)
	}
}
