package statemachines

import (
	"context"

	"stepback/asl"
	"stepback/aws"
	"stepback/aws/model"
	"stepback/engine"
)

type validateRequest struct {
	Definition string `json:"definition"`
	Type       string `json:"type"`
	Severity   string `json:"severity"`
	MaxResults int    `json:"maxResults"`
}

const maxDiagnostics = 100

type diagnostic struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
	Location string `json:"location,omitempty"`
}

type validateResponse struct {
	Result      string       `json:"result"`
	Diagnostics []diagnostic `json:"diagnostics"`
	Truncated   bool         `json:"truncated"`
}

func (s *Service) validateStateMachineDefinition(_ context.Context, _ aws.Scope,
	in *validateRequest) (*validateResponse, error) {
	found := engine.Validate(in.Definition, in.Type == TypeExpress, model.CheckAction)
	out := &validateResponse{Result: "OK", Diagnostics: []diagnostic{}}
	if asl.HasErrors(found) {
		out.Result = "FAIL"
	}
	limit := in.MaxResults
	if limit <= 0 {
		limit = maxDiagnostics
	}
	for _, d := range found {
		if d.Severity != asl.SeverityError && (d.Severity != asl.SeverityWarning || in.Severity != "WARNING") {
			continue
		}
		if len(out.Diagnostics) == limit {
			out.Truncated = true
			break
		}
		out.Diagnostics = append(out.Diagnostics, diagnostic{string(d.Severity), string(d.Code), d.Message, d.Location})
	}
	return out, nil
}
