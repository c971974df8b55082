package aws

import "strings"

// ARN is an Amazon Resource Name, arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE, taken apart. Region and Account are
// empty in the ARNs of some services; Resource may have colons and slashes of its own.
type ARN struct{ Partition, Service, Region, Account, Resource string }

// ParseARN takes an ARN apart. It reports false for a text that does not begin with arn: or has fewer than six parts;
// whether the parts name something that may exist is for the service to say.
func ParseARN(text string) (ARN, bool) {
	rest, ok := strings.CutPrefix(text, "arn:")
	if !ok {
		return ARN{}, false
	}
	var a ARN
	for _, part := range []*string{&a.Partition, &a.Service, &a.Region, &a.Account} {
		if *part, rest, ok = strings.Cut(rest, ":"); !ok {
			return ARN{}, false
		}
	}
	a.Resource = rest
	return a, true
}

// String is the text of the ARN.
func (a ARN) String() string {
	return "arn:" + a.Partition + ":" + a.Service + ":" + a.Region + ":" + a.Account + ":" + a.Resource
}

// Scope is the account and region of the ARN.
func (a ARN) Scope() Scope { return Scope{Account: a.Account, Region: a.Region} }
