package sts

import "encoding/xml"

// version is that of STS's API.
const version = "2011-06-15"

// callerIdentity is the answer of GetCallerIdentity.
type callerIdentity struct {
	XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ GetCallerIdentityResponse"`
	Result    identity `xml:"GetCallerIdentityResult"`
	RequestID string   `xml:"ResponseMetadata>RequestId"`
}

type identity struct {
	ARN     string `xml:"Arn"`
	UserID  string `xml:"UserId"`
	Account string
}

// refusal is an error.
type refusal struct {
	XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ ErrorResponse"`
	Error     failure
	RequestID string `xml:"RequestId"`
}

type failure struct{ Type, Code, Message string }
