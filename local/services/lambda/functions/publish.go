package functions

import (
	"context"
	"strconv"

	"stepback/aws"
)

// PublishInput describes a version to publish.
type PublishInput struct {
	CodeSha256  string // required hash of the code; empty means any
	Description *string
	RevisionID  string `json:"RevisionId"`
}

// Publish publishes $LATEST as a version. If nothing has changed since the last published version, Publish returns
// that version.
func (s *Service) Publish(ctx context.Context, scope aws.Scope, name string, in *PublishInput) (*Configuration, error) {
	var shown *Configuration
	_, err := s.changeLatest(ctx, scope, name, in.RevisionID, func(_ *area, r *record) error {
		if in.CodeSha256 != "" && in.CodeSha256 != r.Latest.CodeSha256 {
			return invalid("CodeSHA256 (%s) is different from current CodeSHA256 in $LATEST (%s). Please try again with the CodeSHA256 in $LATEST.",
				in.CodeSha256, r.Latest.CodeSha256)
		}
		shown = s.publish(r, in.Description)
		return nil
	})
	return shown, err
}

// publish adds a version to a record that is being built.
func (s *Service) publish(r *record, description *string) *Configuration {
	if c, ok := r.numbered(strconv.Itoa(r.Published)); ok && r.PublishedFrom == r.Latest.RevisionID {
		return c
	}
	r.Published++
	r.PublishedFrom = r.Latest.RevisionID
	c := r.Latest
	c.Version = strconv.Itoa(r.Published)
	c.FunctionArn += ":" + c.Version
	c.RevisionID = aws.NewID()
	set(&c.Description, description)
	r.Versions = append(r.Versions, c)
	return &r.Versions[len(r.Versions)-1]
}
