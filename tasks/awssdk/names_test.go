package awssdk

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"stepback/aws/model"
	"stepback/tasks/awssdk/responses"
)

func TestExceptionName(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"NoSuchKey": "NoSuchKeyException", "ResourceNotFoundException": "ResourceNotFoundException",
		"KMSInternalException": "KmsInternalException", "StateMachineDoesNotExist": "StateMachineDoesNotExistException",
		"ServiceFault": "ServiceException", "ObjectNotInActiveTierError": "ObjectNotInActiveTierErrorException",
		"InvalidARNFault": "InvalidArnException", "DBInstanceNotFoundFault": "DbInstanceNotFoundException",
		"EC2ThrottledException": "Ec2ThrottledException", "InvalidS3ObjectException": "InvalidS3ObjectException",
		"AWSOrganizationsNotInUseException": "AwsOrganizationsNotInUseException", "EFSIOException": "EfsioException",
	} {
		if got := exceptionName(model); got != want {
			t.Errorf("%s becomes %s, want %s", model, got, want)
		}
	}
}

// TestNamesOfAllModels names every member and every error of all services as the SDK for Java does. Each name must
// start with a capital, be a valid Java identifier, and find the member again, in parameters as in results.
func TestNamesOfAllModels(t *testing.T) {
	t.Parallel()
	identifier := regexp.MustCompile(`^[A-Z][A-Za-z0-9_]*$`)
	var members, exceptions int
	for _, name := range model.Services() {
		s, err := serviceOf(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != "smsvoice" && strings.ToLower(s.Class) != s.Name {
			t.Errorf("%s has the class %s", s.Name, s.Class)
		}
		if !identifier.MatchString(s.Class) {
			t.Errorf("%s is no class", s.Class)
		}
		seen := map[*model.Shape]bool{}
		for _, operation := range s.Operations() {
			o, err := s.action(lowerFirst(operation))
			var streams *unsupportedError
			if errors.As(err, &streams) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			members += checkNames(t, s, o.Input, identifier, seen) + checkNames(t, s, o.Output, identifier, seen)
		}
		for _, e := range s.Exceptions() {
			exceptions++
			if n := exceptionName(e); !identifier.MatchString(n) || !strings.HasSuffix(n, "Exception") {
				t.Errorf("%s: the error %s becomes %s", s.Name, e, n)
			}
		}
	}
	if members < 100_000 || exceptions < 3_000 {
		t.Errorf("only %d members and %d errors", members, exceptions)
	}
}

// checkNames checks the names of a shape's members, recursively.
func checkNames(t *testing.T, s *service, shape *model.Shape, identifier *regexp.Regexp,
	seen map[*model.Shape]bool) int {
	t.Helper()
	if shape == nil || seen[shape] {
		return 0
	}
	seen[shape] = true
	n := 0
	if shape.Element != nil {
		n += checkNames(t, s, shape.Element.Shape, identifier, seen)
	}
	names := map[string]string{}
	for _, m := range shape.Members {
		n++
		name := responses.SDK.Member(m)
		if other, taken := names[name]; taken || !identifier.MatchString(name) {
			t.Errorf("%s %s: %s becomes %s, as %q", s.Name, shape.Name, m.Name, name, other)
		}
		names[name] = m.Name
		if found := known.find(shape, name); found != m {
			t.Errorf("%s %s: %s does not find %s", s.Name, shape.Name, name, m.Name)
		}
		if found := known.find(shape, upperFirst(m.Name)); found != m {
			t.Errorf("%s %s: %s does not find itself", s.Name, shape.Name, m.Name)
		}
		n += checkNames(t, s, m.Shape, identifier, seen)
	}
	return n
}
