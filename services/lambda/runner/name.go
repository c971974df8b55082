package runner

import (
	"regexp"
	"strings"

	"stepback/aws"
)

// Latest is the version of a function that has not been published.
const Latest = "$LATEST"

// Name is what the name of a function in a call says. Account and Region are empty unless it is an ARN; Account is also
// in the form ACCOUNT:function:NAME.
type Name struct{ Account, Region, Function, Qualifier string }

// nameForm is the pattern of a function's name in Lambda's model.
var nameForm = regexp.MustCompile(
	`^(?:arn:aws[a-zA-Z-]*:lambda:(?:([a-z0-9-]+):)?)?(?:(\d{12}):)?(?:function:)?([A-Za-z0-9_-]+)(?::(\$LATEST|[A-Za-z0-9_-]+))?$`)

// ParseName reads NAME, ACCOUNT:function:NAME and arn:aws:lambda:REGION:ACCOUNT:function:NAME, each with or without
// :QUALIFIER. The error is an *aws.Error.
func ParseName(name, qualifier string) (Name, error) {
	n, err := parseName(name, qualifier)
	if err != nil {
		return Name{}, err
	}
	return n, nil
}

func parseName(name, qualifier string) (Name, *aws.Error) {
	n := Name{Function: name, Qualifier: qualifier}
	if isName(name) { // the usual form costs no regular expression with groups
		return n, nil
	}
	parts := nameForm.FindStringSubmatch(name)
	if parts == nil || strings.HasPrefix(name, "arn:") && !strings.Contains(name, ":function:") {
		return Name{}, invalidParameter("%q is no function name or ARN", name)
	}
	n.Region, n.Account, n.Function = parts[1], parts[2], parts[3]
	if inName := parts[4]; inName != "" {
		if qualifier != "" && qualifier != inName {
			return Name{}, invalidParameter("The derived qualifier from the function name does not match the specified qualifier.")
		}
		n.Qualifier = inName
	}
	return n, nil
}

// FunctionARN returns the ARN of the function name in the service's region and account.
func (s *Service) FunctionARN(name string) string {
	return aws.Scope{Account: s.opts.Account, Region: s.opts.Region}.ARN("lambda", "function:"+name)
}
