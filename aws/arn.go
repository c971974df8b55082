package aws

import "strings"

// ARN is a parsed Amazon Resource Name, arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE. Region and Account are empty
// in the ARNs of some services; Resource may itself contain colons and slashes.
type ARN struct{ Partition, Service, Region, Account, Resource string }

// ParseARN parses an ARN. It returns false if the text does not begin with arn: or has fewer than six parts; it does
// not check whether the resource can exist.
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

// String returns the text of the ARN.
func (a ARN) String() string {
	return "arn:" + a.Partition + ":" + a.Service + ":" + a.Region + ":" + a.Account + ":" + a.Resource
}

// Scope returns the account and region of the ARN.
func (a ARN) Scope() Scope { return Scope{Account: a.Account, Region: a.Region} }
