package jsonpath_test

import (
	"errors"
	"fmt"
	"testing"

	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

func ExampleReference_Set() {
	input, _ := jsonvalue.Parse(`{"order": 7}`)
	ref, err := jsonpath.CompileReference("$.shipment.result")
	if err != nil {
		fmt.Println(err)
		return
	}
	output, _ := ref.Set(input, jsonvalue.OfString("sent"))
	fmt.Println(output.JSON())
	// Output: {"order":7,"shipment":{"result":"sent"}}
}

func TestReferenceSet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, root, want string }{
		{`$`, `{"a":1}`, `"V"`},
		{`$`, `[1]`, `"V"`},
		{`$`, `null`, `"V"`},
		{`$.a`, `{}`, `{"a":"V"}`},
		{`$.a`, `{"b":1,"a":2,"c":3}`, `{"b":1,"a":"V","c":3}`},
		{`$.a.b.c`, `{}`, `{"a":{"b":{"c":"V"}}}`},
		{`$['a b']["c"]`, `{"x":0}`, `{"x":0,"a b":{"c":"V"}}`},
		{`$.a[1]`, `{"a":[1,2,3]}`, `{"a":[1,"V",3]}`},
		{`$.a[0].b`, `{"a":[{"c":1}]}`, `{"a":[{"c":1,"b":"V"}]}`},
		{`$.a[0][1]`, `{"a":[[1,2]]}`, `{"a":[[1,"V"]]}`},
		{`$.delivery-partner`, `{}`, `{"delivery-partner":"V"}`},
	} {
		ref, err := jsonpath.CompileReference(c.path)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		root := must(t, c.root)
		got, err := ref.Set(root, jsonvalue.OfString("V"))
		if err != nil || got.JSON() != c.want {
			t.Errorf("%s on %s = %s, %v; want %s", c.path, c.root, got.JSON(), err, c.want)
		}
		if root.JSON() != must(t, c.root).JSON() {
			t.Errorf("%s changed its input", c.path)
		}
	}
}

func TestReferenceThatMatchesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, root, reason string }{
		{`$.a`, `[1]`, "it is not an object but an array"},
		{`$.a`, `"x"`, "it is not an object but a string"},
		{`$.a`, `null`, "it is not an object but null"},
		{`$[0]`, `[1]`, "it is not an object but an array"},
		{`$[0]`, `{}`, "the element [0] cannot be set in an object"},
		{`$.a.b`, `{"a":5}`, "the member 'b' cannot be set in a number"},
		{`$.a.b`, `{"a":null}`, "the member 'b' cannot be set in null"},
		{`$.a.b`, `{"a":[1]}`, "the member 'b' cannot be set in an array"},
		{`$.a[2]`, `{"a":[1,2]}`, "the index 2 is outside an array of 2 elements"},
		{`$.a[0]`, `{}`, "the element [0] cannot be set in an object"},
	} {
		ref, err := jsonpath.CompileReference(c.path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = ref.Set(must(t, c.root), jsonvalue.OfInt(1))
		e, ok := errors.AsType[*jsonpath.ReferenceError](err)
		if !ok || e.Reason != c.reason {
			t.Errorf("%s on %s: %v, want the reason %q", c.path, c.root, err, c.reason)
		} else if want := "Unable to apply ReferencePath " + c.path + " to input " + c.root; e.Error() != want {
			t.Errorf("%s on %s says %s, want %s", c.path, c.root, e, want)
		}
	}
}

func TestWhatIsAReferencePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		`$`: true, `$.a`: true, `$.a.b_c`: true, `$['a.b']`: true, `$["a"][0]`: true, `$.a[10]`: true, `$.日本`: true,
		`$['a@b']`: true,
		``:         false, `a`: false, `$.`: false, `$$.a`: false, `$x.a`: false, `$.a[*]`: false, `$.*`: false,
		`$..a`: false, `$.a[-1]`: false,
		`$.a[0,1]`: false, `$.a[0:1]`: false, `$['a','b']`: false, `$.a[?(@.b)]`: false, `$.a.length()`: false,
		`$.a@b`: false, `$.a[`: false,
		`@.a`: false,
	} {
		if _, err := jsonpath.CompileReference(path); (err == nil) != want {
			t.Errorf("CompileReference(%s): %v", path, err)
		}
	}
}

func TestReferenceFromOtherRoots(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{`$$.Execution.Input`: true, `$wait[0].s`: true, `$wait[*]`: false,
		`$$.a..b`: false} {
		p, err := jsonpath.Compile(path)
		if err != nil || p.IsReference() != want {
			t.Errorf("%s: IsReference() = %v, %v", path, p.IsReference(), err)
		}
	}
}
