package server

import "testing"

// TestPreferredEncoding checks which encoding DynamoDB uses for Accept-Encoding headers.
func TestPreferredEncoding(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "", "identity": "", "br": "", "x-gzip": "", "gzip br": "", "gzip:q=1": "", `"gzip"`: "",
		"gzip, deflate": "gzip", "br, identity, deflate, gzip": "deflate", "GZIP, identity": "gzip", "dog, gzip ,, cat": "gzip",
		"gzip;q=0.8, deflate;q=0.5": "gzip", "br, gzip;q=0, deflate; q = 0.5 , identity;q=0": "deflate",
		"*": "gzip", "*, deflate;q=0.5": "gzip", "*, deflate": "deflate", "*, gzip;q=0.5": "deflate", "*;q=0": "",
		"*;q=0.5,identity": "gzip", "gzip ;q=0": "", "br;q=0.8,identity;q=0.5,*;q=0": "",
		"gzip;q=31,deflate;q=51": "gzip", "deflate;q=0.5, gzip;q=1;q=0.2": "gzip", "deflate;q=0.5,gzip;q=0.": "deflate",
		"deflate;q=0.5,gzip;q=0.x": "gzip", "deflate;q=-0.5,gzip;q=0.2": "gzip", "gzip;q= 0;q=1": "", "gzip;q =0;q=1": "gzip",
		"gzip;nq=0;q=1": "", "gzip;q=0, gzip;q=1, gzip;q=0": "gzip",
	} {
		if got := preferred(header); got != want {
			t.Errorf("%q: %q, not %q", header, got, want)
		}
	}
}
