package strictyaml_test

import (
	"strings"
	"testing"

	"stepback/internal/strictyaml"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	r, v := strictyaml.Read("t.yaml", []byte("a: {b: [1, 2.50, true, null, \"1\", x y]}\nc: 2026-11-22\nd: 12345678901234567890\n"))
	got := v.JSON().JSON()
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if want := `{"a":{"b":[1,2.50,true,null,"1","x y"]},"c":"2026-11-22","d":12345678901234567890}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r, v = strictyaml.Read("t.yaml", []byte("a: 0x10\n"))
	v.JSON()
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "t.yaml:1:4: a: \"0x10\" is not a JSON number") {
		t.Errorf("%v", err)
	}
}
