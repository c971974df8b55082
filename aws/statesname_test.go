package aws_test

import (
	"testing"

	"stepback/aws"
)

func TestValidStatesName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"order-17_A.b!": true, "日本": true, "": true, "bad name!": false, "a/b": false, "a:b": false, "a\tb": false, "a\xff": false,
		"a$b": false, "a*": false, "a\u0085": false, "a-B_3.é": true, "a\x00": false, "a|b": false, "a`b": false,
	} {
		if got := aws.ValidStatesName(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
