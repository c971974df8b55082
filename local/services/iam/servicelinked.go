package iam

import (
	"cmp"
	"encoding/json"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
)

type serviceLinkedRequest struct {
	Service     string `json:"AWSServiceName"`
	Description string
	Suffix      string `json:"CustomSuffix"`
}

var serviceName = lazyregexp.New(`^[a-z0-9.-]+\.amazonaws\.com$`)

// createServiceLinkedRole creates a role that a service may assume. Its name is derived from the service's name; AWS
// itself spells some services differently.
func (s *Service) createServiceLinkedRole(scope aws.Scope, in *serviceLinkedRequest) (answer *roleAnswer, err error) {
	if !serviceName.MatchString(in.Service) {
		return nil, refuse("InvalidInput", 400, "Service Role Name %s is not valid.", in.Service)
	}
	var name strings.Builder
	for _, part := range strings.FieldsFunc(strings.TrimSuffix(in.Service, ".amazonaws.com"), func(r rune) bool { return r == '.' || r == '-' }) {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	full := "AWSServiceRoleFor" + name.String()
	if in.Suffix != "" {
		full += "_" + in.Suffix
	}
	trust, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{"Effect": "Allow",
		"Principal": map[string]any{"Service": []string{in.Service}}, "Action": []string{"sts:AssumeRole"}}}})
	if err != nil {
		return nil, err
	}
	return answer, s.change(scope.Account, func(c *change) error {
		if _, found, err := get[entity](s, c.account, roles, full); err != nil || found {
			return cmp.Or(err, refuse("InvalidInput", 400, "Service role name %s has been taken in this account, please try a different suffix.", full))
		}
		e, err := s.newEntity(c, scope, roles, "AROA", full, "/aws-service-role/"+in.Service+"/")
		if err != nil {
			return err
		}
		e.Role = &roleParts{string(trust), in.Description, 3600}
		c.put(roles, e.Name, e)
		answer = &roleAnswer{e.role()}
		return nil
	})
}

type deletionTask struct {
	ID string `json:"DeletionTaskId"`
}

// deleteServiceLinkedRole deletes a role immediately, because no service here uses it.
func (s *Service) deleteServiceLinkedRole(scope aws.Scope, in *oneRole) (*deletionTask, error) {
	var task deletionTask
	return &task, s.change(scope.Account, func(c *change) error {
		e, err := s.findEntity(scope.Account, roles, in.Name)
		if err != nil {
			return err
		}
		service, ok := strings.CutPrefix(e.Path, "/aws-service-role/")
		if !ok {
			return refuse("InvalidInput", 400, "The role %s is not a service-linked role.", in.Name)
		}
		task.ID = "task/aws-service-role/" + service + e.Name + "/" + aws.NewID()
		c.remove(roles, e.Name)
		return nil
	})
}

// deletionStatus is the status of a deletion. A Reason is given only for failures, and no deletion fails here.
type deletionStatus struct {
	Status string
	Reason *struct {
		Reason        string
		RoleUsageList []struct {
			Region    string
			Resources []string
		}
	} `json:",omitempty"`
}

// serviceLinkedDeletion returns the status of a deletion, which has always succeeded by the time it is
// acknowledged. It returns an error for any other task.
func (s *Service) serviceLinkedDeletion(scope aws.Scope, in *deletionTask) (*deletionStatus, error) {
	const parts = 5
	p := strings.Split(in.ID, "/")
	if len(p) != parts || p[0] != "task" || p[1] != "aws-service-role" {
		return nil, notFound("The deletion task %s cannot be found.", in.ID)
	}
	if _, found, err := get[entity](s, scope.Account, roles, p[3]); err != nil || found {
		return nil, cmp.Or(err, notFound("The deletion task %s cannot be found.", in.ID))
	}
	return &deletionStatus{Status: "SUCCEEDED"}, nil
}
