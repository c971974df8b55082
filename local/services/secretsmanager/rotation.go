package secretsmanager

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/jsonvalue"
)

// rotation is the rotation configuration of a secret.
type rotation struct {
	Enabled  bool
	Function string
	Rules    *rotationRules `json:",omitempty"`
	Since    time.Time
}

// next returns the time at which the schedule would rotate the secret. It is zero for schedules that do not count
// days.
func (r *rotation) next(x *secret) time.Time {
	if r.Rules == nil || r.Rules.Days == 0 {
		return time.Time{}
	}
	from := x.Rotated
	if from.Before(r.Since) {
		from = r.Since
	}
	return from.Add(time.Duration(r.Rules.Days) * 24 * time.Hour)
}

type rotateSecret struct {
	secretRequest
	Token       string          `json:"ClientRequestToken"`
	Function    string          `json:"RotationLambdaARN"`
	Rules       *rotationRules  `json:"RotationRules"`
	Immediately *bool           `json:"RotateImmediately"`
	Outside     jsonvalue.Value `json:"ExternalSecretRotationMetadata"`
	Role        string          `json:"ExternalSecretRotationRoleArn"`
}

func (s *Service) rotateSecret(_ context.Context, scope aws.Scope, in *rotateSecret) (*versioned, error) {
	if !in.Outside.IsNull() || in.Role != "" {
		return nil, invalid("Secrets that others manage (ExternalSecretRotationMetadata) are not supported by this Secrets Manager.")
	}
	if r := in.Rules; r != nil && r.Days != 0 && r.Schedule != "" {
		return nil, invalid("You can't specify both AutomaticallyAfterDays and ScheduleExpression in RotationRules.")
	}
	id, err := token(in.Token)
	if err != nil {
		return nil, err
	}
	if in.Function != "" && s.opts.Invocable != nil && !s.opts.Invocable(scope, in.Function) {
		return nil, &aws.Error{Code: "AccessDeniedException", Message: "Secrets Manager cannot invoke the specified Lambda " +
			"function. Ensure that the function policy grants access to the principal secretsmanager.amazonaws.com."}
	}
	out := &versioned{Version: id}
	now := in.Immediately == nil || *in.Immediately
	var rotated *secret
	out.secretIdentity, err = s.alter(scope, in.Secret, func(x *secret) error {
		r := &rotation{Since: s.now()}
		if x.Rotation != nil {
			*r = *x.Rotation
		}
		r.Function, r.Enabled = cmp.Or(in.Function, r.Function), true
		if in.Rules != nil {
			r.Rules = in.Rules
		}
		if r.Function == "" {
			return invalidRequest("No Lambda rotation function ARN is associated with this secret.")
		}
		if s.opts.Invoke == nil {
			return invalidRequest("Secrets cannot be rotated here: there are no functions.")
		}
		if p := x.staged(pending); p != nil && p.ID != id && !slices.Contains(p.Stages, current) {
			return invalidRequest("A previous rotation isn't complete. That rotation will be reattempted.")
		}
		x.Rotation, x.Changed = r, s.now()
		if now && x.version(id) == nil {
			x.Versions = append(x.Versions, version{ID: id, Created: s.now(), Empty: true})
			x.move(pending, id)
		}
		if now {
			x.Rotating = id
		}
		rotated = x
		return nil
	})
	if err != nil {
		return nil, err
	}
	if now {
		s.rotate(rotated, id)
	}
	return out, nil
}

// Resume continues the rotations that an earlier process accepted and did not end; their functions are called from
// the first step again. Call it once, when functions can be invoked.
func (s *Service) Resume() error {
	if s.opts.Invoke == nil {
		return nil
	}
	return s.table.Scan("", func(key string, text []byte) error {
		of := strings.SplitN(key, "/", 3)
		x := &secret{scope: aws.Scope{Account: of[0], Region: of[1]}}
		err := json.Unmarshal(text, x)
		if err == nil && x.Rotating != "" && x.Rotation != nil && x.Deleted.IsZero() {
			s.rotate(x, x.Rotating)
		}
		return err
	})
}

// rotate starts a rotation in the background. Virtual time waits for it.
func (s *Service) rotate(x *secret, id string) {
	s.opts.Clock.Go(s.ctx, &s.rotating, time.Minute, func(ctx context.Context) { s.rotateNow(ctx, x, id) })
}

// rotateNow invokes the secret's function for the four steps of a rotation, and records that the rotation has ended,
// unless the service is closed before.
func (s *Service) rotateNow(ctx context.Context, x *secret, id string) {
	if !s.rotateBySteps(ctx, x, id) && s.ctx.Err() != nil {
		return // the next process resumes it
	}
	if _, err := s.alter(x.scope, x.Name, func(x *secret) error {
		if x.Rotating == id {
			x.Rotating = ""
		}
		if v := x.version(id); v != nil && slices.Contains(v.Stages, current) {
			x.Rotated = s.now() // AWSPENDING stays in place, as on AWS
		}
		return nil
	}); err != nil {
		s.opts.Log.Error("a rotation could not be noted", "secret", x.Name, "error", err)
	}
}

// rotateBySteps reports whether the function succeeded in all steps.
func (s *Service) rotateBySteps(ctx context.Context, x *secret, id string) bool {
	for _, step := range []string{"createSecret", "setSecret", "testSecret", "finishSecret"} {
		payload, err := json.Marshal(map[string]string{"Step": step, "SecretId": x.arn(), "ClientRequestToken": id})
		if err == nil {
			err = s.opts.Invoke(ctx, x.scope, x.Rotation.Function, payload)
		}
		if err != nil {
			s.opts.Log.Error("a rotation failed", "secret", x.Name, "step", step, "function", x.Rotation.Function, "error", err)
			return false
		}
	}
	return true
}

func (s *Service) cancelRotateSecret(_ context.Context, scope aws.Scope, in *secretRequest) (*versioned, error) {
	out := &versioned{}
	var err error
	out.secretIdentity, err = s.alter(scope, in.Secret, func(x *secret) error {
		if x.Rotation == nil {
			return invalidRequest("You tried to cancel the rotation of a secret that does not rotate.")
		}
		x.Rotation.Enabled = false
		if v := x.staged(pending); v != nil {
			out.Version = v.ID
		}
		return nil
	})
	return out, err
}
