package outbound_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"stepback/internal/outbound"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	allowed, err := outbound.ParseAllowed("10.1.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	p := &outbound.Policy{Allow: []netip.Prefix{allowed}}
	for address, want := range map[string]string{
		"8.8.8.8": "", "2600:1f18::1": "", "10.1.2.3": "", "::ffff:10.1.2.3": "",
		"169.254.169.254": "link-local", "::ffff:169.254.169.254": "link-local", "fe80::1%eth0": "link-local",
		"127.0.0.1": "loopback", "127.9.9.9": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"10.2.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
		"fd00:ec2::254": "private", "172.32.0.1": "",
		"0.0.0.0": "reserved", "::": "reserved", "100.100.100.200": "reserved", "255.255.255.255": "reserved",
		"239.1.1.1": "reserved", "198.18.0.1": "reserved",
		"64:ff9b::a9fe:a9fe": "link-local", "2002:7f00:1::": "loopback", "64:ff9b::808:808": "",
	} {
		got := ""
		if refused := outbound.Refused(p.Check(netip.MustParseAddr(address))); refused != nil {
			got = refused.Kind
		}
		if got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
}

// TestTransport sends requests to a server on the loopback interface, directly and by a redirect.
func TestTransport(t *testing.T) {
	t.Parallel()
	reached := 0
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer inner.Close()
	port := inner.URL[strings.LastIndexByte(inner.URL, ':'):]
	outer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.2"+port, http.StatusFound)
	}))
	outer.Start()
	defer outer.Close()
	refusing := &outbound.Policy{}
	half := &outbound.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	for _, test := range []struct {
		policy    *outbound.Policy
		url, want string
	}{
		{refusing, inner.URL, "127.0.0.1 is a loopback address"},
		{refusing, "http://localhost" + port, "is a loopback address"},
		{refusing, "http://[::ffff:127.0.0.1]" + port, "127.0.0.1 is a loopback address"},
		{half, outer.URL, "127.0.0.2 is a loopback address"},
		{half, inner.URL, "<nil>"},
		{nil, inner.URL, "<nil>"},
	} {
		client := &http.Client{Transport: test.policy.Transport()}
		answer, err := client.Get(test.url)
		if err == nil {
			_ = answer.Body.Close()
		}
		if got := fmt.Sprint(err); !strings.Contains(got, test.want) || (err != nil) != (outbound.Refused(err) != nil) {
			t.Errorf("%s: error %v, want %s", test.url, err, test.want)
		}
	}
	if reached != 2 {
		t.Errorf("the server was reached %d times, want 2", reached)
	}
}

func TestParseAllowed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"10.1.2.3": "10.1.2.3/32", "10.1.2.3/16": "10.1.0.0/16", "::ffff:10.1.2.3": "10.1.2.3/32",
		"fd00::/8": "fd00::/8"} {
		if got, err := outbound.ParseAllowed(text); err != nil || got.String() != want {
			t.Errorf("%s is %v, %v, want %s", text, got, err, want)
		}
	}
	if _, err := outbound.ParseAllowed("example.com"); err == nil || err.Error() != `"example.com" is not an IP address or a network such as 10.1.0.0/16` {
		t.Errorf("error %v", err)
	}
}
