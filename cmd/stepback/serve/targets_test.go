package serve

import (
	"fmt"
	"net/netip"
	"testing"
)

// TestTargets refuses private targets when other machines can reach the server, unless the flags say otherwise.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		listen, private string
		allow           []string
		want            string
	}{
		{"127.0.0.1:4566", "auto", nil, "all"}, {"localhost:0", "auto", nil, "all"}, {"[::1]:0", "auto", nil, "all"},
		{"0.0.0.0:4566", "auto", nil, "10.1.2.3 refused"}, {":4566", "auto", nil, "10.1.2.3 refused"},
		{"0.0.0.0:4566", "allow", nil, "all"}, {"127.0.0.1:4566", "refuse", nil, "10.1.2.3 refused"},
		{"0.0.0.0:4566", "auto", []string{"10.1.0.0/16"}, "10.1.2.3 allowed"},
		{"0.0.0.0:4566", "auto", []string{"intranet"}, `--allow-target: "intranet" is not an IP address or a network such as 10.1.0.0/16`},
	} {
		p, err := (&Serve{Listen: test.listen, PrivateTargets: test.private, AllowTarget: test.allow}).targets()
		got := "all"
		switch {
		case err != nil:
			got = err.Error()
		case p != nil && p.Check(netip.MustParseAddr("10.1.2.3")) == nil:
			got = "10.1.2.3 allowed"
		case p != nil:
			got = "10.1.2.3 refused"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", fmt.Sprint(test.listen, test.private, test.allow), got, test.want)
		}
	}
}
