package secretsmanager

import (
	"context"

	"stepback/aws"
	"stepback/local/services/documents"
)

// Managed stores the secrets that another service in this process manages. Requests of users can read these secrets,
// and cannot change them. The service must not change the same secret twice at the same time.
type Managed struct {
	service *Service
	owner   string
}

// Managed returns the secrets that a service manages, by the name that OwningService has, such as events.
func (s *Service) Managed(owner string) *Managed { return &Managed{s, owner} }

// Put adds a new version of a secret to a batch of the same store; the secret is created if it does not exist. suffix
// is the end of its ARN, six characters. The text is encrypted under key, given by ID, ARN or alias. The error is an
// *aws.Error if the key cannot be used.
func (m *Managed) Put(ctx context.Context, b *documents.Batch, scope aws.Scope, name, suffix, key, text string) error {
	s := m.service
	x, err := s.find(scope, name)
	switch {
	case err == errNoSecret: //nolint:errorlint // find returns it as it is
		x = &secret{scope: scope, Name: name, Suffix: suffix, Created: s.now(), Owner: m.owner}
	case err != nil:
		return err
	}
	x.Key, x.Changed = key, s.now()
	if key == usualKey {
		x.Key = ""
	}
	id := aws.NewID()
	if _, err := s.add(ctx, x, id, value{String: &text}); err != nil {
		return err
	}
	x.move(current, id)
	x.trim()
	return s.keep(b, x)
}

// Delete adds the deletion of a secret, without a recovery window, to a batch.
func (m *Managed) Delete(b *documents.Batch, scope aws.Scope, name string) {
	b.Delete(m.service.table, place(scope, name))
}

// Has reports whether a secret exists.
func (m *Managed) Has(scope aws.Scope, name string) (bool, error) {
	_, err := m.service.find(scope, name)
	if err == errNoSecret { //nolint:errorlint // find returns it as it is
		return false, nil
	}
	return err == nil, err
}
