package policy

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
)

// Context maps condition keys, such as aws:username and s3:prefix, to their values. Key names are case-insensitive.
type Context map[string][]string

func (c Context) get(name string) []string {
	if values, ok := c[name]; ok {
		return values
	}
	for key, values := range c {
		if strings.EqualFold(key, name) {
			return values
		}
	}
	return nil
}

// Condition is one operator and key of a statement's Condition element.
type Condition struct {
	operator string // such as StringLike, without prefix and suffix
	key      string
	values   []string
	forAll   bool // ForAllValues
	forAny   bool // ForAnyValue
	ifExists bool
}

// Key returns the condition's key, such as aws:SourceIp.
func (c *Condition) Key() string { return c.key }

// comparison reports whether a value of the request matches a value of the policy.
type comparison func(policy, request string) bool

// operators holds the positive condition operators. negatedOperators refers to them.
var operators = map[string]comparison{
	"StringEquals":           func(p, r string) bool { return p == r },
	"StringEqualsIgnoreCase": strings.EqualFold,
	"StringLike":             aws.Matches,
	"ArnEquals":              matchesARN,
	"ArnLike":                matchesARN,
	"Bool":                   strings.EqualFold,
	"BinaryEquals":           func(p, r string) bool { return p == r },
	"IpAddress":              inNetwork,
	"NumericEquals":          numeric(func(c int) bool { return c == 0 }),
	"NumericLessThan":        numeric(func(c int) bool { return c < 0 }),
	"NumericLessThanEquals":  numeric(func(c int) bool { return c <= 0 }),
	"NumericGreaterThan":     numeric(func(c int) bool { return c > 0 }), "NumericGreaterThanEquals": numeric(func(c int) bool { return c >= 0 }),
	"DateEquals": date(func(c int) bool { return c == 0 }), "DateLessThan": date(func(c int) bool { return c < 0 }),
	"DateLessThanEquals":    date(func(c int) bool { return c <= 0 }),
	"DateGreaterThan":       date(func(c int) bool { return c > 0 }),
	"DateGreaterThanEquals": date(func(c int) bool { return c >= 0 }),
}

// negatedOperators maps each negated operator to the operator that it negates.
var negatedOperators = map[string]string{
	"StringNotEquals": "StringEquals", "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase", "StringNotLike": "StringLike",
	"ArnNotEquals": "ArnEquals", "ArnNotLike": "ArnLike", "NotIpAddress": "IpAddress", "NumericNotEquals": "NumericEquals",
	"DateNotEquals": "DateEquals",
}

const null = "Null"

func conditions(given map[string]map[string]oneOrMany) (all []Condition, err error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		c := Condition{operator: name}
		c.operator, c.forAll = cutPrefix(c.operator, "ForAllValues:")
		c.operator, c.forAny = cutPrefix(c.operator, "ForAnyValue:")
		if c.operator != null {
			c.operator, c.ifExists = strings.CutSuffix(c.operator, "IfExists")
		}
		_, affirmed := operators[c.operator]
		_, denied := negatedOperators[c.operator]
		if !affirmed && !denied && c.operator != null {
			return nil, fmt.Errorf("the condition operator %s is not known", name)
		}
		for _, key := range slices.Sorted(maps.Keys(given[name])) {
			c.key, c.values = key, given[name][key]
			all = append(all, c)
		}
	}
	return all, nil
}

func cutPrefix(s, prefix string) (string, bool) { return strings.CutPrefix(s, prefix) }

// holds reports whether the condition is met.
func (c *Condition) holds(p *Policy, context Context) bool {
	values := context.get(c.key)
	if c.operator == null {
		absent := len(values) == 0
		return len(c.values) == 1 && strings.EqualFold(c.values[0], strconv.FormatBool(absent))
	}
	denied, isDenial := negatedOperators[c.operator]
	if len(values) == 0 {
		return c.ifExists || c.forAll || isDenial && !c.forAny
	}
	operator := c.operator
	if isDenial {
		operator = denied
	}
	fits := func(value string) bool {
		return slices.ContainsFunc(c.values, func(given string) bool {
			if p.Version == "2012-10-17" && strings.Contains(given, "${") {
				made, ok := expandVariables(given, context)
				if !ok {
					return false
				}
				given = made
			}
			return operators[operator](given, value)
		}) != isDenial
	}
	if c.forAny || !c.forAll && !isDenial {
		return slices.ContainsFunc(values, fits)
	}
	return !slices.ContainsFunc(values, func(v string) bool { return !fits(v) })
}

// matchesARN compares ARNs by their six parts, each of which may contain wildcards.
func matchesARN(pattern, arn string) bool {
	const parts = 6
	p, a := strings.SplitN(pattern, ":", parts), strings.SplitN(arn, ":", parts)
	if len(p) != parts || len(a) != parts {
		return aws.Matches(pattern, arn)
	}
	for i := range p {
		if !aws.Matches(p[i], a[i]) {
			return false
		}
	}
	return true
}

func inNetwork(network, address string) bool {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	if n, err := netip.ParsePrefix(network); err == nil {
		return n.Contains(a)
	}
	one, err := netip.ParseAddr(network)
	return err == nil && one == a
}

// numeric returns a comparison of the request's number with the policy's.
func numeric(fits func(int) bool) comparison {
	return func(policy, request string) bool {
		p, err := strconv.ParseFloat(policy, 64)
		r, wrong := strconv.ParseFloat(request, 64)
		if err != nil || wrong != nil {
			return false
		}
		switch {
		case r < p:
			return fits(-1)
		case r > p:
			return fits(1)
		}
		return r == p && fits(0)
	}
}

func date(fits func(int) bool) comparison {
	return func(policy, request string) bool {
		p, ok := instant(policy)
		r, also := instant(request)
		return ok && also && fits(r.Compare(p))
	}
}

// instant parses an ISO 8601 date or the seconds since 1970.
func instant(text string) (time.Time, bool) {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(seconds, 0), true
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
