package lambda

import (
	"net/http"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

// provisioned is provisioned concurrency as the API returns it.
type provisioned struct {
	FunctionArn string `json:",omitempty"` // only in lists
	Requested   int    `json:"RequestedProvisionedConcurrentExecutions"`
	Available   int    `json:"AvailableProvisionedConcurrentExecutions"`
	Allocated   int    `json:"AllocatedProvisionedConcurrentExecutions"`
	Status      string
	Modified    string `json:"LastModified"`
}

func (s *Service) putProvisioned(q *request) (*server.Answer, error) {
	n, _ := q.Input.Get("ProvisionedConcurrentExecutions")
	most, _ := n.Int()
	c, err := s.functions.Provision(q.ctx, q.scope, q.name.Function, q.name.Qualifier, int(most))
	if err != nil {
		return nil, err
	}
	return answer(provisioned{Requested: c.Requested, Status: "IN_PROGRESS", Modified: c.LastModified}, nil)
}

func ready(c functions.ProvisionedConfig) provisioned {
	return provisioned{Requested: c.Requested, Available: c.Requested, Allocated: c.Requested, Status: "READY",
		Modified: c.LastModified}
}

func (s *Service) getProvisioned(q *request) (*server.Answer, error) {
	if q.name.Qualifier == "" {
		return nil, &aws.Error{Code: "InvalidParameterValueException", Status: http.StatusBadRequest,
			Message: "Provisioned Concurrency Configs cannot be applied to unpublished function versions."}
	}
	list, err := s.functions.Provisioned(q.scope, q.name.Function, q.name.Qualifier)
	if err != nil {
		return nil, err
	}
	return answer(ready(list[0]), nil)
}

func (s *Service) deleteProvisioned(q *request) (*server.Answer, error) {
	return done(s.functions.Unprovision(q.ctx, q.scope, q.name.Function, q.name.Qualifier))
}

func (s *Service) listProvisioned(q *request) (*server.Answer, error) {
	list, err := s.functions.Provisioned(q.scope, q.name.Function, "")
	if err != nil {
		return nil, err
	}
	shown := make([]provisioned, len(list))
	for i, c := range list {
		shown[i] = ready(c)
		shown[i].FunctionArn = c.FunctionArn
	}
	page, next, err := pageOf(q, shown, func(p provisioned) string { return p.FunctionArn })
	return answer(struct {
		ProvisionedConcurrencyConfigs []provisioned
		NextMarker                    string `json:",omitempty"`
	}{page, next}, err)
}
