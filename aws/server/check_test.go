package server

import (
	"fmt"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/jsonvalue"
)

// nullKeys returns the messages about tags without a key.
func nullKeys(first, last int) string {
	var parts []string
	for i := first; i <= last; i++ {
		parts = append(parts, fmt.Sprintf("Value null at 'tags.%d.member.key' failed to satisfy constraint: Member must not be null", i))
	}
	return strings.Join(parts, "; ")
}

// ruleOf returns the compiled constraints of the test's model.
func ruleOf(t *testing.T) *rule {
	t.Helper()
	o, err := greeter(t).Operation("Check")
	if err != nil {
		t.Fatal(err)
	}
	r := rules{words: Words{Bytes: []string{"Data"}}, made: map[*model.Shape]*rule{}}
	return r.of(o.Input)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	checked := ruleOf(t)
	const one = "ValidationException: 1 validation error detected: "
	for request, want := range map[string]string{
		`{"name":"a","maxResults":1000,"share":99.5,"keys":["k"],"tags":[{"key":"k"}],"trace":{"enabled":true}}`: "",
		`{"name":"a","unknown":1}`:   "",
		`{"name":"a","status":null}`: "",
		`{}`: one +
			"Value null at 'name' failed to satisfy constraint: Member must not be null",
		`{"name":""}`: one +
			"Value '' at 'name' failed to satisfy constraint: Member must have length greater than or equal to 1",
		`{"name":"abcdef"}`: one +
			"Value 'abcdef' at 'name' failed to satisfy constraint: Member must have length less than or equal to 5",
		`{"name":"A"}`: one +
			"Value 'A' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-z]*",
		`{"name":"a","status":"on"}`: one +
			"Value 'on' at 'status' failed to satisfy constraint: Member must satisfy enum value set: [ON, OFF]",
		`{"name":"a","maxResults":1001}`: one +
			"Value '1001' at 'maxResults' failed to satisfy constraint: Member must have value less than or equal to 1000",
		`{"name":"a","maxResults":0}`: one +
			"Value '0' at 'maxResults' failed to satisfy constraint: Member must have value greater than or equal to 1",
		`{"name":"a","keys":[]}`: one +
			"Value '[]' at 'keys' failed to satisfy constraint: Member must have length greater than or equal to 1",
		`{"name":"a","keys":["x","y","z"]}`: one +
			"Value '[x, y, z]' at 'keys' failed to satisfy constraint: Member must have length less than or equal to 2",
		`{"name":"a","tags":[{"key":"k"},{}]}`: one +
			"Value null at 'tags.2.member.key' failed to satisfy constraint: Member must not be null",
		`{"name":"a","trace":{}}`: one +
			"Value null at 'trace.enabled' failed to satisfy constraint: Member must not be null",
		`{"status":"x"}`: "ValidationException: 2 validation errors detected: Value null at 'name' failed to satisfy constraint: Member must not be null; " +
			"Value 'x' at 'status' failed to satisfy constraint: Member must satisfy enum value set: [ON, OFF]",
		`{"name":"a","labels":{"b":"long"}}`: one + "Value '{b=long}' at 'labels' failed to satisfy constraint: " +
			"Map value must satisfy constraint: [Member must have length less than or equal to 3, Member must not be null]",
		`{"name":"a","weights":{"a":0.5}}`: one + "Value '{a=0.5}' at 'weights' failed to satisfy constraint: " +
			"Map keys must satisfy constraint: [Member must have length less than or equal to 9, Member must have length greater than or " +
			"equal to 1, Member must satisfy regular expression pattern: [0-9]+, Member must not be null]",
		`{"name":"a","weights":{"1":1.5}}`: one + "Value '{1=1.5}' at 'weights' failed to satisfy constraint: " +
			"Map value must satisfy constraint: [Member must have value less than or equal to 1, Member must have value greater than or " +
			"equal to 0, Member must not be null]",
		`{"name":"a","weights":{"1":"x"}}`:         "SerializationException: STRING_VALUE can not be converted to the expected type",
		`{"name":"a","weights":{"1":0.25,"22":1}}`: "",
		`{"name":"a","labels":{"b":"","c":"","d":""}}`: one +
			"Value '{b=, c=, d=}' at 'labels' failed to satisfy constraint: Member must have length less than or equal to 2",
		`{"name":"a","keys":["k",null]}`: one + "Value '[k, null]' at 'keys' failed to satisfy constraint: " +
			"Member must satisfy constraint: [Member must have length greater than or equal to 1, Member must not be null]",
		`{"name":"a","secret":"hunter22"}`: one +
			"Value at 'secret' failed to satisfy constraint: Member must have length less than or equal to 7",
		`{"name":"a","data":"\u00e9\u00e9\u00e9"}`: one +
			"Value 'ééé' at 'data' failed to satisfy constraint: Member must have size less than or equal to 5 bytes in UTF-8 encoding",
		`{"name":"\u00e9\u00e9\u00e9"}`: one +
			"Value 'ééé' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-z]*",
		`{"name":"a","Upper":"B"}`: one +
			"Value 'B' at 'upper' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-z]*",
		`{"name":1}`:                    "SerializationException: NUMBER_VALUE can not be converted to the expected type",
		`{"name":"a","maxResults":1.5}`: "SerializationException: NUMBER_VALUE can not be converted to the expected type",
		`{"name":"a","publish":"yes"}`:  "SerializationException: STRING_VALUE can not be converted to the expected type",
		`{"name":"a","keys":[1]}`:       "SerializationException: NUMBER_VALUE can not be converted to the expected type",
		`{"name":"a","tags":[{"key":"k","v":"w"},{},{},{},{},{},{},{}]}`: "ValidationException: 8 validation errors detected: " +
			"Value '[Tag(key=k, v=w), Tag(), Tag(), Tag(), Tag(), Tag(), Tag(), Tag()]' at 'tags' failed to satisfy constraint: Member must have length less than or equal to 7; " +
			nullKeys(2, 8),
		`{"name":"a","tags":[null]}`: "SerializationException: ",
		`{"name":"a","keys":{}}`:     "SerializationException: Start of structure or map found where not expected.",
	} {
		o, err := jsonvalue.Parse(request)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := checked.check(o); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", request, got, want)
		}
	}
}

func TestCheckShowsTheStructuresOfAList(t *testing.T) {
	t.Parallel()
	o, parseErr := jsonvalue.Parse(`{"name":"a","routes":[{"weight":30,"to":"a"},{"to":"b","unknown":true}]}`)
	if parseErr != nil {
		t.Fatal(parseErr)
	}
	err := ruleOf(t).check(o)
	want := "ValidationException: 1 validation error detected: Value '[Route(to=a, weight=30), Route(to=b)]' at 'routes' " +
		"failed to satisfy constraint: Member must have length less than or equal to 1"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}
