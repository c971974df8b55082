package secretsmanager

import (
	"context"
	"errors"
	"slices"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

type getValue struct {
	secretRequest
	Version string `json:"VersionId"`
	Stage   string `json:"VersionStage"`
}

type gotten struct {
	secretIdentity
	Version string       `json:"VersionId"`
	Binary  []byte       `json:"SecretBinary,omitempty"`
	String  *string      `json:"SecretString,omitempty"`
	Stages  []string     `json:"VersionStages,omitempty"`
	Created *server.Time `json:"CreatedDate"`
}

func (s *Service) getSecretValue(ctx context.Context, scope aws.Scope, in *getValue) (*gotten, error) {
	x, err := s.find(scope, in.Secret)
	switch {
	case err != nil:
		return nil, err
	case !x.Deleted.IsZero():
		return nil, invalidRequest(deletedMessage)
	}
	const day = 24 * time.Hour
	found, err := s.value(ctx, x, in)
	if err != nil {
		return nil, err
	}
	v := x.version(found.Version)
	if today := s.now().Truncate(day); x.Owner == "" &&
		(!x.Accessed.Equal(today) || v != nil && !v.Accessed.Equal(today)) {
		if _, err := s.alter(x.scope, x.Name, func(x *secret) error {
			x.Accessed = today
			if v := x.version(found.Version); v != nil {
				v.Accessed = today
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// value returns the version that a request asks for.
func (s *Service) value(ctx context.Context, x *secret, in *getValue) (*gotten, error) {
	const cannot = "Secrets Manager can't find the specified secret value for "
	var v *version
	switch stage := in.Stage; {
	case in.Version != "":
		if v = x.version(in.Version); v == nil || v.Empty {
			return nil, notFound(cannot + "VersionId: " + in.Version)
		}
		if stage != "" && !slices.Contains(v.Stages, stage) {
			return nil, invalidRequest("You provided a VersionStage that is not associated to the provided VersionId.")
		}
	default:
		if stage == "" {
			stage = current
		}
		if v = x.staged(stage); v == nil || v.Empty {
			return nil, notFound(cannot + "staging label: " + stage)
		}
	}
	text, err := s.opts.Secrets.Decrypt(ctx, x.scope, x.arn(), v.Text)
	if err != nil {
		var e *aws.Error
		if errors.As(err, &e) {
			return nil, &aws.Error{Code: "DecryptionFailure", Message: e.Message}
		}
		return nil, err
	}
	out := &gotten{secretIdentity: x.named(), Version: v.ID, Stages: v.Stages, Created: optional(v.Created)}
	if v.Binary {
		out.Binary = []byte(text)
	} else {
		out.String = &text
	}
	return out, nil
}

type batchGet struct {
	Secrets []string `json:"SecretIdList"`
	Filters []filter
	Most    int    `json:"MaxResults"`
	Next    string `json:"NextToken"`
}

type batchGotten struct {
	Values []gotten      `json:"SecretValues"`
	Next   string        `json:"NextToken,omitempty"`
	Errors []secretError `json:"Errors"`
}

type secretError struct {
	Secret  string `json:"SecretId"`
	Code    string `json:"ErrorCode"`
	Message string
}

func (s *Service) batchGetSecretValue(ctx context.Context, scope aws.Scope, in *batchGet) (*batchGotten, error) {
	out := &batchGotten{Values: []gotten{}, Errors: []secretError{}}
	names := in.Secrets
	switch {
	case (in.Secrets == nil) == (in.Filters == nil):
		return nil, invalid("Either 'SecretIdList' or 'Filters' must be provided, but not both.")
	case in.Secrets != nil && (in.Most != 0 || in.Next != ""):
		return nil, invalid("'Filters' not specified. 'Filters' must also be specified when 'MaxResults' is provided.")
	case in.Filters != nil:
		all, err := s.filtered(scope, in.Filters, false)
		if err != nil {
			return nil, err
		}
		const most = 20
		if in.Most == 0 {
			in.Most = most
		}
		if all, out.Next, err = page(in.Next, in.Most, all, func(x *secret) string { return x.Name }); err != nil {
			return nil, err
		}
		for _, x := range all {
			names = append(names, x.Name)
		}
	}
	for _, name := range names {
		v, err := s.getSecretValue(ctx, scope, &getValue{secretRequest: secretRequest{name}})
		var e *aws.Error
		switch {
		case err == nil:
			out.Values = append(out.Values, *v)
		case errors.As(err, &e):
			out.Errors = append(out.Errors, secretError{name, e.Code, e.Message})
		default:
			return nil, err
		}
	}
	return out, nil
}

type putValue struct {
	secretRequest
	Token string `json:"ClientRequestToken"`
	value
	Stages []string `json:"VersionStages"`
}

type putVersion struct {
	versioned
	Stages []string `json:"VersionStages"`
}

func (s *Service) putSecretValue(ctx context.Context, scope aws.Scope, in *putValue) (*putVersion, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if !in.given() {
		return nil, invalidRequest("You must provide either SecretString or SecretBinary.")
	}
	id, err := token(in.Token)
	if err != nil {
		return nil, err
	}
	stages := in.Stages
	if len(stages) == 0 {
		stages = []string{current}
	}
	out := &putVersion{versioned: versioned{Version: id}}
	out.secretIdentity, err = s.alter(scope, in.Secret, func(x *secret) error {
		if len(x.Versions) == 0 && !slices.Contains(stages, current) {
			stages = append(stages, current) // the first version is always current
		}
		again, err := s.add(ctx, x, id, in.value)
		if err != nil {
			return err
		}
		if !again {
			for _, stage := range stages {
				x.move(stage, id)
			}
			x.Changed = s.now()
			x.trim()
		}
		out.Stages = x.version(id).Stages
		return nil
	})
	return out, err
}

type listVersions struct {
	secretRequest
	Most       int    `json:"MaxResults"`
	Next       string `json:"NextToken"`
	Deprecated bool   `json:"IncludeDeprecated"`
}

type listedVersion struct {
	ID       string       `json:"VersionId"`
	Stages   []string     `json:"VersionStages,omitempty"`
	Accessed *server.Time `json:"LastAccessedDate,omitempty"`
	Created  *server.Time `json:"CreatedDate"`
	Keys     []string     `json:"KmsKeyIds,omitempty"`
}

type versionList struct {
	secretIdentity
	Versions []listedVersion
	Next     string `json:"NextToken,omitempty"`
}

func (s *Service) listSecretVersionIDs(_ context.Context, scope aws.Scope, in *listVersions) (*versionList, error) {
	x, err := s.find(scope, in.Secret)
	if err != nil {
		return nil, err
	}
	all := []listedVersion{}
	for _, v := range x.Versions {
		if len(v.Stages) > 0 || in.Deprecated {
			key := x.Key
			if key == "" {
				key = "DefaultEncryptionKey"
			}
			all = append(all, listedVersion{v.ID, v.Stages, optional(v.Accessed), optional(v.Created), []string{key}})
		}
	}
	out := &versionList{secretIdentity: x.named()}
	out.Versions, out.Next, err = page(in.Next, in.Most, all, func(v listedVersion) string { return v.ID })
	return out, err
}

type updateStage struct {
	secretRequest
	Stage string `json:"VersionStage"`
	From  string `json:"RemoveFromVersionId"`
	To    string `json:"MoveToVersionId"`
}

func (s *Service) updateSecretVersionStage(_ context.Context, scope aws.Scope, in *updateStage) (*secretIdentity, error) {
	out, err := s.alter(scope, in.Secret, func(x *secret) error {
		for _, id := range []string{in.From, in.To} {
			if id != "" && x.version(id) == nil {
				return notFound("Secrets Manager can't find the specified secret version: " + id)
			}
		}
		has := x.staged(in.Stage)
		switch {
		case in.From == "" && has != nil && has.ID != in.To:
			return invalid("The parameter RemoveFromVersionId can't be empty. Staging label " + in.Stage +
				" is currently attached to version " + has.ID + ", so you must explicitly reference that version in " +
				"RemoveFromVersionId.")
		case in.From != "" && (has == nil || has.ID != in.From):
			return invalid("The parameter RemoveFromVersionId must be the version to which the staging label " + in.Stage +
				" is attached.")
		case in.To == "" && in.Stage == current:
			return invalid("You can't remove the staging label AWSCURRENT from a secret: move it to another version.")
		}
		if in.To == "" {
			if has != nil {
				has.Stages = slices.DeleteFunc(has.Stages, func(stage string) bool { return stage == in.Stage })
			}
			return nil
		}
		x.move(in.Stage, in.To)
		x.Changed = s.now()
		return nil
	})
	return &out, err
}
