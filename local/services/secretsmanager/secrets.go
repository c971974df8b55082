package secretsmanager

import (
	"context"
	"encoding/json"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
)

type createSecret struct {
	Name        string
	Token       string `json:"ClientRequestToken"`
	Description string
	Key         string `json:"KmsKeyId"`
	value
	Tags    []tag
	Type    string
	Regions jsonvalue.Value `json:"AddReplicaRegions"`
}

type versioned struct {
	secretIdentity
	Version string `json:"VersionId,omitempty"`
}

type createdSecret struct {
	versioned
	Replicas json.RawMessage `json:"ReplicationStatus,omitempty"`
}

func (s *Service) createSecret(ctx context.Context, scope aws.Scope, in *createSecret) (*createdSecret, error) {
	switch {
	case !secretName.MatchString(in.Name):
		return nil, server.Invalid("Invalid name. Must be a valid name containing alphanumeric characters, or any of the " +
			"following: -/_+=.@!")
	case !in.Regions.IsNull() && in.Regions.Len() > 0:
		return nil, invalid("Replicas (AddReplicaRegions) are not supported by this Secrets Manager.")
	case in.Type != "":
		return nil, invalid("Secrets that others manage (Type) are not supported by this Secrets Manager.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	id, err := token(in.Token)
	if err != nil {
		return nil, err
	}
	now := s.now()
	x := &secret{scope: scope, Name: in.Name, Suffix: password(alphabet, suffixBytes-1), Description: in.Description,
		Key: in.Key, Created: now, Changed: now}
	if x.Tags, err = withTags(nil, in.Tags); err != nil {
		return nil, err
	}
	if in.given() {
		if _, err := s.add(ctx, x, id, in.value); err != nil {
			return nil, err
		}
		x.move(current, id)
	}
	out := &createdSecret{versioned: versioned{secretIdentity: x.named()}}
	if in.given() {
		out.Version = id
	}
	err = s.change(func(b *documents.Batch) error {
		there, err := s.find(scope, in.Name)
		switch {
		case err == nil && !there.Deleted.IsZero():
			return invalidRequest(
				"You can't create this secret because a secret with this name is already scheduled for deletion.")
		case err == nil && in.given() && there.version(id) != nil: // a repeated request
			out.secretIdentity = there.named()
			_, err := s.add(ctx, there, id, in.value)
			return err
		case err == nil:
			return &aws.Error{Code: "ResourceExistsException",
				Message: "The operation failed because the secret " + in.Name + " already exists."}
		case err != errNoSecret: //nolint:errorlint // find returns it as it is
			return err
		}
		return s.keep(b, x)
	})
	return out, err
}

type rotationRules struct {
	Days     int64  `json:"AutomaticallyAfterDays,omitempty"`
	Duration string `json:"Duration,omitempty"`
	Schedule string `json:"ScheduleExpression,omitempty"`
}

// description describes a secret in responses, alone and in lists.
type description struct {
	secretIdentity
	Description string         `json:"Description,omitempty"`
	Key         string         `json:"KmsKeyId,omitempty"`
	Rotates     *bool          `json:"RotationEnabled,omitempty"`
	Function    string         `json:"RotationLambdaARN,omitempty"`
	Rules       *rotationRules `json:"RotationRules,omitempty"`
	Rotated     *server.Time   `json:"LastRotatedDate,omitempty"`
	Changed     *server.Time   `json:"LastChangedDate,omitempty"`
	Accessed    *server.Time   `json:"LastAccessedDate,omitempty"`
	Deleted     *server.Time   `json:"DeletedDate,omitempty"`
	Next        *server.Time   `json:"NextRotationDate,omitempty"`
	Tags        []tag          `json:"Tags,omitzero"`
	Created     *server.Time   `json:"CreatedDate,omitempty"`
	Owner       string         `json:"OwningService,omitempty"`
	*unsupportedMembers
}

// unsupportedMembers holds the members of secrets that have replicas or are managed by other services. They are
// never set here.
type unsupportedMembers struct {
	Type                           json.RawMessage `json:",omitempty"`
	PrimaryRegion                  json.RawMessage `json:",omitempty"`
	ExternalSecretRotationMetadata json.RawMessage `json:",omitempty"`
	ExternalSecretRotationRoleArn  json.RawMessage `json:",omitempty"`
}

type described struct {
	description
	Stages   map[string][]string `json:"VersionIdsToStages,omitempty"`
	Replicas json.RawMessage     `json:"ReplicationStatus,omitempty"`
}

func (x *secret) describe() description {
	d := description{secretIdentity: x.named(), Description: x.Description, Key: x.Key, Rotated: optional(x.Rotated),
		Changed: optional(x.Changed), Accessed: optional(x.Accessed), Tags: listTags(x.Tags),
		Created: optional(x.Created), Owner: x.Owner}
	if !x.Deleted.IsZero() {
		d.Deleted = optional(x.Deleted)
	}
	if r := x.Rotation; r != nil {
		on := r.Enabled
		d.Rotates, d.Function, d.Rules = &on, r.Function, r.Rules
		if on {
			d.Next = optional(r.next(x))
		}
	}
	return d
}

// stages returns the staging labels of the versions that have any.
func (x *secret) stages() map[string][]string {
	made := map[string][]string{}
	for _, v := range x.Versions {
		if len(v.Stages) > 0 {
			made[v.ID] = v.Stages
		}
	}
	return made
}

func (s *Service) describeSecret(_ context.Context, scope aws.Scope, in *secretRequest) (*described, error) {
	x, err := s.find(scope, in.Secret)
	if err != nil {
		return nil, err
	}
	return &described{description: x.describe(), Stages: x.stages()}, nil
}

type updateSecret struct {
	secretRequest
	Token       string `json:"ClientRequestToken"`
	Description *string
	Key         *string `json:"KmsKeyId"`
	value
	Type string
}

func (s *Service) updateSecret(ctx context.Context, scope aws.Scope, in *updateSecret) (*versioned, error) {
	if in.Type != "" {
		return nil, invalid("Secrets that others manage (Type) are not supported by this Secrets Manager.")
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	id, err := token(in.Token)
	if err != nil {
		return nil, err
	}
	out := &versioned{}
	if in.given() {
		out.Version = id
	}
	out.secretIdentity, err = s.alter(scope, in.Secret, func(x *secret) error {
		if in.Description != nil {
			x.Description = *in.Description
		}
		if in.Key != nil {
			x.Key = *in.Key
		}
		x.Changed = s.now()
		if !in.given() {
			return nil
		}
		_, err := s.add(ctx, x, id, in.value)
		x.move(current, id)
		x.trim()
		return err
	})
	return out, err
}

type deleteSecret struct {
	secretRequest
	Days  *int64 `json:"RecoveryWindowInDays"`
	Force bool   `json:"ForceDeleteWithoutRecovery"`
}

type deletedSecret struct {
	secretIdentity
	At *server.Time `json:"DeletionDate"`
}

func (s *Service) deleteSecret(_ context.Context, scope aws.Scope, in *deleteSecret) (*deletedSecret, error) {
	const least, most = 7, 30
	days := int64(most)
	if in.Days != nil {
		days = *in.Days
	}
	switch {
	case in.Force && in.Days != nil:
		return nil, invalid("You can't use ForceDeleteWithoutRecovery in conjunction with RecoveryWindowInDays.")
	case days < least || days > most:
		return nil, invalid("The RecoveryWindowInDays value must be between 7 and 30 days (inclusive).")
	}
	out := &deletedSecret{}
	return out, s.change(func(b *documents.Batch) error {
		x, err := s.find(scope, in.Secret)
		switch {
		case in.Force && err == errNoSecret: //nolint:errorlint // find returns it as it is
			out.secretIdentity = secretIdentity{scope.ARN("secretsmanager", "secret:"+in.Secret), in.Secret}
			out.At = optional(s.now())
			return nil
		case err != nil:
			return err
		case !x.Deleted.IsZero() && !in.Force:
			return invalidRequest(deletedMessage)
		}
		if err := x.checkOwner(); err != nil {
			return err
		}
		out.secretIdentity = x.named()
		if in.Force {
			out.At = optional(s.now())
			b.Delete(s.table, place(x.scope, x.Name))
			return nil
		}
		x.Deleted = s.now().Add(time.Duration(days) * 24 * time.Hour)
		out.At = optional(x.Deleted)
		return s.keep(b, x)
	})
}

func (s *Service) restoreSecret(_ context.Context, scope aws.Scope, in *secretRequest) (*secretIdentity, error) {
	out := &secretIdentity{}
	return out, s.change(func(b *documents.Batch) error {
		x, err := s.find(scope, in.Secret)
		if err != nil {
			return err
		}
		if err := x.checkOwner(); err != nil {
			return err
		}
		x.Deleted = time.Time{}
		*out = x.named()
		return s.keep(b, x)
	})
}
