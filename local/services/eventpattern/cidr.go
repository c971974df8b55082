package eventpattern

import (
	"net/netip"
	"strconv"
	"strings"
)

// addresses returns the test for the value of cidr. As in AWS, the block starts at the address as written, even if
// it is not the first address of the masked range.
func addresses(s string) (test, error) {
	refuse := func(reason string) (test, error) { return nil, &Error{Reason: reason, Brief: reason} }
	text, mask, ok := strings.Cut(s, "/")
	if mask = strings.TrimRight(mask, "/"); !ok || mask == "" || strings.Contains(mask, "/") {
		return refuse("Malformed CIDR, one '/' required")
	}
	bits, err := strconv.ParseInt(mask, 10, 32)
	switch {
	case err != nil:
		return refuse("Malformed CIDR, mask bits must be an integer")
	case bits < 0:
		return refuse("Malformed CIDR, mask bits must not be negative")
	}
	first, ok := address(text)
	switch {
	case !ok && looksLikeAddress(text):
		return refuse("Invalid IP address: " + text)
	case !ok:
		return refuse("Nonstandard IP address: " + text)
	case first.Is4() && bits > 31:
		return refuse("IPv4 mask bits must be < 32")
	case bits > 127:
		return refuse("IPv6 mask bits must be < 128")
	}
	last := first.AsSlice()
	for i := range last {
		switch free := 8*(i+1) - int(bits); {
		case free >= 8:
			last[i] = 0xff
		case free > 0:
			last[i] |= 1<<free - 1
		}
	}
	top, _ := netip.AddrFromSlice(last)
	return block{first, top}, nil
}

// address parses an address as AWS does: four numbers with dots, or an IPv6 address in hexadecimal digits.
func address(s string) (netip.Addr, bool) {
	if len(s) < 2 || len(s) > 64 || !looksLikeAddress(s) {
		return netip.Addr{}, false
	}
	if strings.IndexByte(s, ':') >= 0 {
		a, err := netip.ParseAddr(s)
		return a.Unmap(), err == nil
	}
	var four [4]byte
	for i := range four {
		part, rest, _ := strings.Cut(s, ".")
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return netip.Addr{}, false
		}
		four[i], s = byte(n), rest
	}
	return netip.AddrFrom4(four), true
}

// looksLikeAddress reports whether a text consists of the characters of an address.
func looksLikeAddress(s string) bool {
	dots, colons, hex := 0, 0, false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if i == 0 || i == len(s)-1 || s[i-1] == '.' {
				return false
			}
			dots++
		case c == ':':
			colons++
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			hex = true
		default:
			return false
		}
	}
	return colons > 0 && dots == 0 || dots == 3 && colons == 0 && !hex
}
