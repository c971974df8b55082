package iam

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"stepback/internal/lazyregexp"
	grammar "stepback/local/services/iam/policy"
)

// checkDocument returns an error if text is not a valid policy document. A trust policy names principals; other
// policies name resources.
func checkDocument(text string, trust bool) error {
	malformed := func(reason string) error { return refuse("MalformedPolicyDocument", 400, "%s", reason) }
	var d struct {
		Version   string
		ID        string `json:"Id"`
		Statement json.RawMessage
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&d) != nil || decoder.More() {
		return malformed("This policy contains invalid Json")
	}
	if d.Version != "" && d.Version != "2012-10-17" && d.Version != "2008-10-17" {
		return malformed("Syntax errors in policy.")
	}
	var statements []map[string]any
	if json.Unmarshal(d.Statement, &statements) != nil {
		var one map[string]any
		if json.Unmarshal(d.Statement, &one) != nil {
			return malformed("Syntax errors in policy.")
		}
		statements = []map[string]any{one}
	}
	for _, s := range statements {
		if reason := checkStatement(s, trust); reason != "" {
			return malformed(reason)
		}
	}
	parsed, err := grammar.Parse(text)
	if err != nil {
		return malformed("Syntax errors in policy.")
	}
	for i := range parsed.Statements {
		if reason := checkNames(&parsed.Statements[i], trust); reason != "" {
			return malformed(reason)
		}
	}
	return nil
}

var alphanumeric = lazyregexp.New(`^[0-9A-Za-z]*$`)

// checkNames returns what is wrong with the names of a statement's actions, resources and principals, or "".
func checkNames(s *grammar.Statement, trust bool) string {
	if !alphanumeric.MatchString(s.ID) {
		return "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*"
	}
	for _, action := range slices.Concat(s.Actions, s.NotActions) {
		switch vendor, _, ok := strings.Cut(action, ":"); {
		case !ok && action != "*":
			return "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."
		case ok && trust && vendor != "sts":
			return "AssumeRole policy may only specify STS AssumeRole actions."
		}
	}
	for _, resource := range slices.Concat(s.Resources, s.NotResources) {
		if resource != "*" && !strings.HasPrefix(resource, "arn:") {
			return "Resource " + resource + " must be in ARN format or \"*\"."
		}
	}
	if name := cmp.Or(s.Principals.Malformed(), s.NotPrincipals.Malformed()); name != "" {
		return "Invalid principal in policy: " + name
	}
	return ""
}

// elements lists the elements that a statement may have.
var elements = map[string]bool{"Sid": true, "Effect": true, "Action": true, "NotAction": true, "Resource": true,
	"NotResource": true, "Principal": true, "NotPrincipal": true, "Condition": true}

// checkStatement returns what is wrong with a statement, or "" if it is valid.
func checkStatement(s map[string]any, trust bool) string {
	for name := range s {
		if !elements[name] {
			return "Syntax errors in policy."
		}
	}
	_, principal := s["Principal"]
	_, notPrincipal := s["NotPrincipal"]
	resource := s["Resource"] != nil || s["NotResource"] != nil
	switch effect := s["Effect"]; {
	case effect != "Allow" && effect != "Deny":
		return "Syntax errors in policy."
	case s["Action"] == nil && s["NotAction"] == nil:
		return "Policy statement must contain actions."
	case trust && resource:
		return "Has prohibited field Resource"
	case trust && !principal && !notPrincipal:
		return "Missing required field Principal"
	case !trust && (principal || notPrincipal):
		return "Policy document should not specify a principal."
	case !trust && !resource:
		return "Policy statement must contain resources."
	}
	return ""
}
