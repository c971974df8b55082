package itemreader

import (
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	pointer := func(p string) func(*Config) { return func(c *Config) { c.ItemsPointer = p } }
	tests := []struct {
		name, text string
		change     func(*Config)
		want       string
	}{
		{"recorded: two items at most", `[{"verdict": "true", "statement_date": "6/11/2008"}, {"verdict": "false"}, {"verdict": "x"}]`,
			func(c *Config) { c.MaxItems = 2 },
			`[{"verdict":"true","statement_date":"6/11/2008"},{"verdict":"false"}]`},
		{"recorded: nested array", `[["from-bucket-item-0"]]`, nil, `[["from-bucket-item-0"]]`},
		{"numbers keep their text", ` [1.0, 12345678901234567890, -0, 1E5,true,null,"x"] `, nil,
			`[1.0,12345678901234567890,-0,1E5,true,null,"x"]`},
		{"brackets in strings", `["]}[{", "\"]", {"a\\": "}"}]`, nil, `["]}[{","\"]",{"a\\":"}"}]`},
		{"empty array", "[ ]\n", nil, `[]`},
		{"byte order mark", "\ufeff[1]", nil, `[1]`},
		{"pointer to an array", `{"skip":[{"products":[9]}],"inventory":{"x":"}","products":{"featured":[1,2],"other":[3]}}}`,
			pointer("/inventory/products/featured"), `[1,2]`},
		{"pointer through an array", `{"a":[[0],[1,2]]}`, pointer("/a/1"), `[1,2]`},
		{"pointer with escapes", `{"a/b":{"c~d":[1]}}`, pointer("/a~1b/c~0d"), `[1]`},
		{"pointer to an object", `{"users":{"alice":{"n":1},"bob":2}}`, pointer("/users"),
			`[{"Key":"alice","Value":{"n":1}},{"Key":"bob","Value":2}]`},
		{"what follows a pointed-to array is not read", `{"a":[1],"b":???`, pointer("/a"), `[1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "JSON"}
			if test.change != nil {
				test.change(&cfg)
			}
			wantItems(t, memoryObjects{"f": test.text}, cfg, test.want)
		})
	}
}

func TestJSONFaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, pointer, want string }{
		{"recorded: the document is an object", `{"Hello": "world"}`, "", "Attempting to map over non-iterable node."},
		{"scalar document", `42`, "", "Attempting to map over non-iterable node."},
		{"no JSON at all", "x,y\n1,2\n", "",
			"S3://data/f line 1 (byte 0) is not JSON: Unrecognized token 'x': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"},
		{"half a scalar", "fals", "", "S3://data/f line 1 (byte 0) is not JSON: Unrecognized token 'fals': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"},
		{"a damaged byte", "[1,\n{\"a\":\"\xE4\xB8\"}]", "", "S3://data/f line 2, byte 10 (0xE4) is not UTF-8 text; " +
			"the ItemReader reads UTF-8 only, convert the file (for example with iconv)"},
		{"pointer to a scalar", `{"a":1}`, "/a", "Attempting to map over non-iterable node."},
		{"empty", " \n", "", "S3://data/f is empty, expected a JSON array"},
		{"pointer leads nowhere", `{"a":{"b":[1]}}`, "/a/c/d",
			`S3://data/f: ItemsPointer "/a/c/d" finds nothing: there is no "/a/c" in the JSON document`},
		{"no such element", `[[1]]`, "/01",
			`S3://data/f: ItemsPointer "/01" finds nothing: there is no "/01" in the JSON document`},
		{"not a pointer", `[]`, "$.a", `ItemsPointer "$.a" is not a JSON Pointer: it must start with '/', for example /inventory/products`},
		{"bad value", "[1,\n tru]", "", "S3://data/f line 2 (byte 5) is not JSON: Unrecognized token 'tru': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"},
		{"two commas", "[1,,2]", "", "S3://data/f line 1 (byte 3) is not JSON: expected a value instead of ','"},
		{"trailing comma", "[1,]", "", "S3://data/f line 1 (byte 3) is not JSON: expected a value instead of ']'"},
		{"no comma", `["a""b"]`, "", `S3://data/f line 1 (byte 4) is not JSON: expected ',' or ']'`},
		{"cut off", `[1,2`, "", `S3://data/f line 1 (byte 4) is not JSON: expected ',' or ']'`},
		{"cut off inside", `[1,{"a":`, "",
			"S3://data/f line 1 (byte 8) is not JSON: Unexpected end-of-input within/between Object entries"},
		{"text behind the end", "[1]\n[2]", "",
			"S3://data/f line 2 (byte 4) is not JSON: unexpected text behind the end of the document"},
		{"cut off while passing over", `{"b":{"x":[`, "/a",
			"S3://data/f line 1 (byte 11) is not JSON: unexpected end of the file inside a value"},
		{"large item", `["` + strings.Repeat("x", 9<<20) + `"]`, "",
			"S3://data/f line 1: the item that starts here is larger than 8 MB " +
				"(8388608 bytes), the largest that a Map can read; split it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "JSON", ItemsPointer: test.pointer}
			wantCause(t, memoryObjects{"f": test.text}, cfg, test.want)
		})
	}
}

func TestJSONPassesOverLargeValues(t *testing.T) {
	t.Parallel()
	cfg := Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "JSON", ItemsPointer: "/items"}
	large := `{"large":["` + strings.Repeat(`x\"`, 5<<20) + `"],"items":[7]}`
	wantItems(t, memoryObjects{"f": large}, cfg, `[7]`)
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	cfg := Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "JSONL"}
	wantItems(t, memoryObjects{"f": "\ufeff{\"a\": 1}\r\n\n  \n[2]\n\"three\""}, cfg, `[{"a":1},[2],"three"]`)
	wantItems(t, memoryObjects{"f": ""}, cfg, `[]`)
	wantCause(t, memoryObjects{"f": "1\n\n{\"a\":\n1}"}, cfg,
		"S3://data/f line 3 (byte 8) is not JSON: Unexpected end-of-input within/between "+
			"Object entries; JSON Lines holds one complete JSON value per line")
	wantCause(t, memoryObjects{"f": "1\n\"\xE4\xB8\"\n"}, cfg, "S3://data/f line 2, byte 3 (0xE4) is not UTF-8 text; "+
		"the ItemReader reads UTF-8 only, convert the file (for example with iconv)")
}

func TestItemsPointerLimits(t *testing.T) {
	t.Parallel()
	far := `{"before":"` + strings.Repeat("x", MaxPointedOffset) + `","items":[1]}`
	cfg := Config{Resource: getObject, Bucket: "data", Key: "f", InputType: "JSON", ItemsPointer: "/items"}
	wantCause(t, memoryObjects{"f": far}, cfg,
		`S3://data/f: ItemsPointer "/items" points to byte 16777237; the value must start within the first 16 MB of the document`)
	wantItems(t, memoryObjects{"f": strings.Replace(far, "x", "", 30)}, cfg, `[1]`)
	cfg.ItemsPointer = "/" + strings.Repeat("a", 1999)
	wantCause(t, memoryObjects{"f": "{}"}, cfg, "the ItemsPointer has 2000 bytes, fewer than 2000 are allowed")
}
