package executions

import (
	"errors"
	"strings"

	"stepback/aws/server"
	"stepback/engine"
)

// splitTestCase removes the name of a test case from the ARN in a start request, which has the form ARN#TESTCASE as
// in Step Functions Local.
func (s *Service) splitTestCase(in *startExecutionRequest) {
	if s.cfg.TestCases {
		in.ARN, in.testCase, _ = strings.Cut(in.ARN, "#")
	}
}

// noTestCase returns the error for the client if err means an unknown test case, and nil for other errors.
func noTestCase(err error) error {
	if errors.Is(err, engine.ErrTestCase) {
		return server.Invalid(err.Error())
	}
	return nil
}
