// Package outbound decides which addresses requests may be sent to whose URLs come from users of the APIs: HTTP Tasks,
// API destinations, HTTP subscriptions. On a machine in a cloud or a company, such a request could otherwise reach the
// machine's metadata service or its neighbours.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// RefusedError reports that a request was not sent because of the address of its target.
type RefusedError struct {
	Address netip.Addr
	// Kind says what the address is: loopback, link-local, private or reserved.
	Kind string
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("TargetRefused: %s is a %s address, to which no requests are sent; stepback serve --allow-target %s allows it",
		e.Address, e.Kind, e.Address)
}

// Policy refuses addresses that are not public, unless they are in Allow. Its zero value refuses all of them.
type Policy struct {
	Allow []netip.Prefix
}

// ParseAllowed parses an address or a network, such as 10.1.2.3 or 10.1.0.0/16.
func ParseAllowed(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return p, fmt.Errorf("%q is not a network such as 10.1.0.0/16", text)
		}
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not an IP address or a network such as 10.1.0.0/16", text)
	}
	return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
}

// reserved are further networks that are not public: this network, shared address space, IETF protocol assignments,
// benchmarking, future use, and site-local addresses.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("fec0::/10"),
}

// The networks whose IPv6 addresses contain an IPv4 address: NAT64 in the last four bytes, 6to4 after the first two.
var (
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	six4  = netip.MustParsePrefix("2002::/16")
)

// Check returns a *RefusedError if no requests may be sent to an address.
func (p *Policy) Check(a netip.Addr) error {
	a = a.Unmap().WithZone("")
	if slices.ContainsFunc(p.Allow, func(allowed netip.Prefix) bool { return allowed.Contains(a) }) {
		return nil
	}
	var kind string
	switch {
	case a.IsLoopback():
		kind = "loopback"
	case a.IsLinkLocalUnicast(), a.IsLinkLocalMulticast(), a.IsInterfaceLocalMulticast():
		kind = "link-local"
	case a.IsPrivate():
		kind = "private"
	case !a.IsValid(), a.IsUnspecified(), a.IsMulticast(),
		slices.ContainsFunc(reserved, func(r netip.Prefix) bool { return r.Contains(a) }):
		kind = "reserved"
	case nat64.Contains(a):
		b := a.As16()
		return p.Check(netip.AddrFrom4([4]byte(b[12:])))
	case six4.Contains(a):
		b := a.As16()
		return p.Check(netip.AddrFrom4([4]byte(b[2:6])))
	default:
		return nil
	}
	return &RefusedError{a, kind}
}

// control checks the address that a connection is about to be made to. By then, names have been resolved.
func (p *Policy) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return p.Check(to.Addr())
}

// Restrict makes a transport refuse addresses. It then uses no proxy, which would resolve names itself.
func (p *Policy) Restrict(t *http.Transport) *http.Transport {
	const patience = 30 * time.Second
	t.Proxy = nil
	t.DialContext = (&net.Dialer{Timeout: patience, KeepAlive: patience, ControlContext: p.control}).DialContext
	return t
}

// Transport returns a transport like http.DefaultTransport that refuses addresses. For a nil policy, it returns
// http.DefaultTransport.
func (p *Policy) Transport() http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if p == nil || !ok {
		return http.DefaultTransport
	}
	return p.Restrict(usual.Clone())
}

// Refused returns the error of a refused address that err wraps; nil if there is none.
func Refused(err error) *RefusedError {
	refused, _ := errors.AsType[*RefusedError](err)
	return refused
}
