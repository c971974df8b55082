package main

import (
	"testing"

	"stepback/aws"
)

func TestScopeOfAnARN(t *testing.T) {
	t.Parallel()
	for arn, want := range map[string]aws.Scope{
		"arn:aws:states:eu-west-1:123456789012:execution:m:x": {Account: "123456789012", Region: "eu-west-1"},
		"arn:aws:iam::123456789012:role/r":                    {Account: "123456789012"},
		"f":                                                   {},
		"":                                                    {},
	} {
		if got := scopeOf(arn); got != want {
			t.Errorf("%q: %+v, want %+v", arn, got, want)
		}
	}
}
