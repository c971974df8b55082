package executions

import (
	"errors"
	"strings"

	"stepback/aws/server"
	"stepback/engine"
)

// splitTestCase takes the name of a test case off the ARN of what is to be started, as Step Functions Local does:
// ARN#TESTCASE.
func (s *Service) splitTestCase(in *startExecutionRequest) {
	if s.cfg.TestCases {
		in.ARN, in.testCase, _ = strings.Cut(in.ARN, "#")
	}
}

// noTestCase is the refusal of a test case; nil when that is not what went wrong.
func noTestCase(err error) error {
	if errors.Is(err, engine.ErrTestCase) {
		return server.Invalid(err.Error())
	}
	return nil
}
