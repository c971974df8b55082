package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/deployment"
	"stepback/local/services/lambda/runner"
)

// The limits of an account. Only the size of a single package and the concurrency are enforced.
const (
	totalCodeSize = 80_530_636_800
	zippedSize    = 52_428_800
)

func (s *Service) getAccountSettings(q *request) (*server.Answer, error) {
	u := s.functions.Usage(q.scope)
	var body struct {
		AccountLimit struct {
			TotalCodeSize, CodeSizeUnzipped, CodeSizeZipped      int64
			ConcurrentExecutions, UnreservedConcurrentExecutions int
		}
		AccountUsage struct {
			TotalCodeSize int64
			FunctionCount int
		}
	}
	l := &body.AccountLimit
	l.TotalCodeSize, l.CodeSizeUnzipped, l.CodeSizeZipped = totalCodeSize, deployment.MaxUnzipped, zippedSize
	l.ConcurrentExecutions, l.UnreservedConcurrentExecutions = runner.DefaultConcurrency, u.Unreserved
	body.AccountUsage.TotalCodeSize, body.AccountUsage.FunctionCount = u.CodeSize, u.Functions
	return answer(body, nil)
}

// getCodeSigningConfig responds that the function does not require signed code.
func (s *Service) getCodeSigningConfig(q *request) (*server.Answer, error) {
	if _, err := s.functions.Get(q.scope, q.name.Function, ""); err != nil {
		return nil, err
	}
	return answer(struct{ FunctionName string }{q.name.Function}, nil)
}
