package intrinsic_test

import (
	"errors"
	"strings"
	"testing"

	"stepback/asl/intrinsic"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

func TestEvalFails(t *testing.T) {
	t.Parallel()
	tests := []struct{ call, want string }{
		{"States.ArrayContains('a', 1)", "States.ArrayContains: the first argument is a string, expected an array"},
		{"States.ArrayGetItem($.a, 3)", "States.ArrayGetItem: the index 3 is out of range for an array of length 3"},
		{"States.ArrayGetItem($.a, -1)", "States.ArrayGetItem: the index -1 is out of range for an array of length 3"},
		{"States.ArrayGetItem($.a, 0.5)", "States.ArrayGetItem: the index 0.5 is not an integer"},
		{"States.ArrayGetItem($.a, '0')", "States.ArrayGetItem: the index is a string, expected a number"},
		{"States.ArrayLength(null)", "States.ArrayLength: the first argument is null, expected an array"},
		{"States.ArrayPartition($.a, 0)", "States.ArrayPartition: the chunk size 0 is not positive"},
		{"States.ArrayPartition($.a, 1e99)",
			"States.ArrayPartition: the chunk size 1e99 is too large, expected at most 2^53"},
		{"States.ArrayRange(1, 2, 0)", "States.ArrayRange: the step is 0"},
		{"States.ArrayRange(1, 1001.5, 1)", "States.ArrayRange: the range has 1002 elements, expected at most 1000"},
		{"States.ArrayRange(-9e15, 9e15, 1)",
			"States.ArrayRange: the range has 18000000000000001 elements, expected at most 1000"},
		{"States.ArrayUnique(1)", "States.ArrayUnique: the first argument is a number, expected an array"},
		{"States.Base64Encode(1)", "States.Base64Encode: the data is a number, expected a string"},
		{"States.Base64Encode($.long)", "States.Base64Encode: the data has 10001 characters, expected at most 10000"},
		{"States.Base64Decode($.long)", "States.Base64Decode: the data has 10001 characters, expected at most 10000"},
		{"States.Base64Decode('a')", "States.Base64Decode: the data is not Base64: illegal base64 data at input byte 0"},
		{"States.Format('{} {}', 1)", "States.Format: the template has 2 placeholders {} for 1 values"},
		{"States.Format('', 1)", "States.Format: the template has 0 placeholders {} for 1 values"},
		{"States.Format(1, 1)", "States.Format: the template is a number, expected a string"},
		{"States.Hash($.long, 'MD5')", "States.Hash: the data has 10001 characters, expected at most 10000"},
		{"States.Hash('a', 'md5')", "States.Hash: unknown algorithm 'md5', expected MD5, SHA-1, SHA-256, SHA-384 or SHA-512"},
		{"States.Hash('a', null)", "States.Hash: the algorithm is null, expected a string"},
		{"States.JsonMerge($, $, true)",
			"States.JsonMerge: deep merging is not supported, the third argument must be false"},
		{"States.JsonMerge($, $, 'false')", "States.JsonMerge: the third argument is a string, expected a boolean"},
		{"States.JsonMerge($.a, $, false)", "States.JsonMerge: the first argument is an array, expected an object"},
		{"States.JsonMerge($, null, false)", "States.JsonMerge: the second argument is null, expected an object"},
		{"States.MathAdd('1', 2)", "States.MathAdd: the first argument is a string, expected a number"},
		{"States.MathAdd(1, 2147483648)", "States.MathAdd: the second argument 2147483648 is outside the 32-bit range"},
		{"States.MathAdd(1, 2147483647)", "States.MathAdd: the sum 2147483648 is outside the 32-bit range"},
		{"States.MathRandom(5, 5)", "States.MathRandom: the start 5 is not below the end 5"},
		{"States.MathRandom(1, 2, 'x')", "States.MathRandom: the seed is a string, expected a number"},
		{"States.StringSplit('a', 1)", "States.StringSplit: the delimiter is a number, expected a string"},
		{"States.StringToJson('{')", "States.StringToJson: the string is not JSON: Unexpected end-of-input: expected close marker for Object (start marker at [line: 1, column: 1]) at line 1, column 2"},
		{"States.StringToJson(1)", "States.StringToJson: the argument is a number, expected a string"},
		{"States.Array(States.MathAdd(null, 1))", "States.MathAdd: the first argument is null, expected a number"},
	}
	input := parse(t, `{"a":[1,2,3],"long":"`+strings.Repeat("é", 10_001)+`"}`)
	for _, tt := range tests {
		v, err := compile(t, tt.call).Eval(&values{input: input})
		var failed *intrinsic.Error
		if !errors.As(err, &failed) || err.Error() != tt.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.call, v.JSON(), err, tt.want)
		}
	}
}

func TestMissingArgument(t *testing.T) {
	t.Parallel()
	_, err := compile(t, "States.Array(States.ArrayLength($.nothing))").Eval(&values{input: jsonvalue.NewObject(0).Value()})
	var argument *intrinsic.ArgumentError
	var missing *jsonpath.NotFoundError
	if !errors.As(err, &argument) || !errors.As(err, &missing) {
		t.Fatalf("got %v, want an *ArgumentError around a *jsonpath.NotFoundError", err)
	}
	if argument.Function != "States.ArrayLength" || argument.Path.Text() != "$.nothing" {
		t.Errorf("got %s, %s", argument.Function, argument.Path.Text())
	}
}
