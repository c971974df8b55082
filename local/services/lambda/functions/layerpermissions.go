package functions

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"stepback/aws"
)

// LayerPermissionInput describes a policy statement to add to a layer version.
type LayerPermissionInput struct {
	StatementID    string `json:"StatementId"`
	Action         string
	Principal      string
	OrganizationID string `json:"OrganizationId"`
	RevisionID     string `json:"RevisionId"`
}

// AddLayerPermission adds a statement to the policy of a layer version, and returns the statement and the policy's
// revision. The policy is stored but not enforced.
func (s *Service) AddLayerPermission(n LayerName, in *LayerPermissionInput) (*Statement, string, error) {
	p := &PermissionInput{StatementID: in.StatementID, Action: in.Action, Principal: in.Principal,
		PrincipalOrgID: in.OrganizationID}
	added, err := p.statement(n.arn() + ":" + strconv.FormatInt(n.Version, 10))
	if err != nil {
		return nil, "", err
	}
	revision, err := s.changeLayerPolicy(n, in.RevisionID, func(old *policy) ([]Statement, error) {
		if old.index(added.Sid) >= 0 {
			return nil, conflict("The statement id (%s) provided already exists. Please provide a new statement id, or remove the existing statement.",
				added.Sid)
		}
		return append(slices.Clone(old.Statements), *added), nil
	})
	return added, revision, err
}

// RemoveLayerPermission removes a statement from the policy of a layer version.
func (s *Service) RemoveLayerPermission(n LayerName, sid, revision string) error {
	_, err := s.changeLayerPolicy(n, revision, func(old *policy) ([]Statement, error) {
		i := old.index(sid)
		if i < 0 {
			return nil, notFound("Statement %s is not found in resource policy.", sid)
		}
		return slices.Delete(slices.Clone(old.Statements), i, i+1), nil
	})
	return err
}

// changeLayerPolicy replaces the statements of a layer version's policy and returns its new revision. It returns an
// error if the policy does not have the given revision.
func (s *Service) changeLayerPolicy(n LayerName, revision string, edit func(*policy) ([]Statement, error)) (string,
	error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	found, v, err := s.layers.find(n)
	if err != nil {
		return "", err
	}
	old := cmp.Or(v.Policy, &policy{})
	if revision != "" && revision != old.RevisionID {
		return "", stalePolicy()
	}
	statements, err := edit(old)
	if err != nil {
		return "", err
	}
	changed := &policy{RevisionID: aws.NewID(), Statements: statements}
	text, err := changed.document()
	if err != nil {
		return "", err
	}
	if len(text) > maxPolicy {
		return "", &aws.Error{Code: "PolicyLengthExceededException", Status: http.StatusBadRequest,
			Message: fmt.Sprintf("The final policy size (%d) is bigger than the limit (%d).", len(text), maxPolicy)}
	}
	v.Policy = changed
	if len(statements) == 0 {
		v.Policy = nil
	}
	return changed.RevisionID, s.layers.write(n.Scope, n.Name, found)
}

// LayerPolicy returns the policy of a layer version as JSON, and its revision.
func (s *Service) LayerPolicy(n LayerName) (document, revision string, err error) {
	s.layers.mu.Lock()
	defer s.layers.mu.Unlock()
	_, v, err := s.layers.find(n)
	if err != nil {
		return "", "", err
	}
	if v.Policy == nil {
		return "", "", notFound("No policy is associated with the given resource.")
	}
	document, err = v.Policy.document()
	return document, v.Policy.RevisionID, err
}
