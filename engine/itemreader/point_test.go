package itemreader_test

import (
	"fmt"
	"testing"

	"stepback/engine/itemreader"
	"stepback/jsonvalue"
)

func ExamplePoint() {
	document, err := jsonvalue.Parse(`{"inventory": {"products": [1, 2]}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	items, err := itemreader.Point(document, "/inventory/products")
	fmt.Println(items.JSON(), err)
	// Output: [1,2] <nil>
}

func TestPoint(t *testing.T) {
	t.Parallel()
	document, err := jsonvalue.Parse(`{"a/b":[{"~":1}],"":2}`)
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"": document.JSON(), "/a~1b/0/~0": "1", "/": "2",
		"a": "", "/c": "", "/a~1b/1": "", "/a~1b/-1": "", "/a~1b/x": "", "/a~1b/0/~0/z": "",
	} {
		v, err := itemreader.Point(document, pointer)
		if want == "" && err == nil || want != "" && (err != nil || v.JSON() != want) {
			t.Errorf("%q: got %s, %v; want %q", pointer, v.JSON(), err, want)
		}
	}
}
