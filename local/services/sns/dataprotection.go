package sns

import (
	"context"
	"encoding/json"

	"stepback/aws"
	"stepback/local/services/documents"
)

// checkDataProtection returns an error for a data protection policy that is not valid, or that would have an effect:
// policies with statements, which audit, mask or reject messages, are not implemented.
func checkDataProtection(text string) error {
	if text == "" {
		return nil
	}
	var p struct{ Statement json.RawMessage }
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return invalid("DataProtectionPolicy Reason: failed to parse JSON. %s", jsonReason(text))
	}
	if s := string(p.Statement); s != "" && s != "null" && s != "[]" {
		return notServed("Data protection policies with statements (DataProtectionPolicy) are not served here.")
	}
	return nil
}

type resourceRequest struct {
	ARN string `json:"ResourceArn"`
}

type putDataProtectionRequest struct {
	resourceRequest
	Policy string `json:"DataProtectionPolicy"`
}

func (s *Service) putDataProtectionPolicy(_ context.Context, scope aws.Scope, in *putDataProtectionRequest) (*none,
	error) {
	return &none{}, s.onTopic(scope, in.ARN, func(_ int64, b *documents.Batch, t *topic) error {
		if err := checkDataProtection(in.Policy); err != nil {
			return err
		}
		t.DataProtection = in.Policy
		return s.keepTopic(b, t)
	})
}

type dataProtectionAnswer struct {
	Policy string `json:"DataProtectionPolicy,omitempty"`
}

func (s *Service) getDataProtectionPolicy(_ context.Context, scope aws.Scope, in *resourceRequest) (
	*dataProtectionAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, err := s.find(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	return &dataProtectionAnswer{t.DataProtection}, nil
}
