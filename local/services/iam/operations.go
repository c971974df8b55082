package iam

import (
	"stepback/aws"
	"stepback/aws/server"
)

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateRole":                            handle(s.createRole),
		"GetRole":                               handle(s.getRole),
		"ListRoles":                             handle(s.listRoles),
		"DeleteRole":                            handle(s.deleteRole),
		"UpdateRole":                            handle(s.updateRole),
		"UpdateRoleDescription":                 handle(s.updateRoleDescription),
		"UpdateAssumeRolePolicy":                handle(s.updateAssumeRolePolicy),
		"PutRolePolicy":                         s.putInline(roles),
		"GetRolePolicy":                         s.getInline(roles),
		"ListRolePolicies":                      s.listInline(roles),
		"DeleteRolePolicy":                      s.deleteInline(roles),
		"AttachRolePolicy":                      s.attach(roles),
		"DetachRolePolicy":                      s.detach(roles),
		"ListAttachedRolePolicies":              s.listAttached(roles),
		"PutRolePermissionsBoundary":            s.putBoundary(roles),
		"DeleteRolePermissionsBoundary":         s.deleteBoundary(roles),
		"TagRole":                               s.tag(roles),
		"UntagRole":                             s.untag(roles),
		"ListRoleTags":                          s.listTags(roles),
		"CreateUser":                            handle(s.createUser),
		"GetUser":                               handle(s.getUser),
		"ListUsers":                             handle(s.listUsers),
		"DeleteUser":                            handle(s.deleteUser),
		"PutUserPolicy":                         s.putInline(users),
		"GetUserPolicy":                         s.getInline(users),
		"ListUserPolicies":                      s.listInline(users),
		"DeleteUserPolicy":                      s.deleteInline(users),
		"AttachUserPolicy":                      s.attach(users),
		"DetachUserPolicy":                      s.detach(users),
		"ListAttachedUserPolicies":              s.listAttached(users),
		"SimulatePrincipalPolicy":               handle(s.simulatePrincipalPolicy),
		"SimulateCustomPolicy":                  handle(s.simulateCustomPolicy),
		"PutUserPermissionsBoundary":            s.putBoundary(users),
		"DeleteUserPermissionsBoundary":         s.deleteBoundary(users),
		"TagUser":                               s.tag(users),
		"UntagUser":                             s.untag(users),
		"ListUserTags":                          s.listTags(users),
		"CreateAccessKey":                       handle(s.createAccessKey),
		"DeleteAccessKey":                       handle(s.deleteAccessKey),
		"UpdateAccessKey":                       handle(s.updateAccessKey),
		"ListAccessKeys":                        handle(s.listAccessKeys),
		"CreateGroup":                           handle(s.createGroup),
		"GetGroup":                              handle(s.getGroup),
		"ListGroups":                            handle(s.listGroups),
		"ListGroupsForUser":                     handle(s.listGroupsForUser),
		"DeleteGroup":                           handle(s.deleteGroup),
		"AddUserToGroup":                        handle(s.addUserToGroup),
		"RemoveUserFromGroup":                   handle(s.removeUserFromGroup),
		"PutGroupPolicy":                        s.putInline(groups),
		"GetGroupPolicy":                        s.getInline(groups),
		"ListGroupPolicies":                     s.listInline(groups),
		"DeleteGroupPolicy":                     s.deleteInline(groups),
		"AttachGroupPolicy":                     s.attach(groups),
		"DetachGroupPolicy":                     s.detach(groups),
		"ListAttachedGroupPolicies":             s.listAttached(groups),
		"CreatePolicy":                          handle(s.createPolicy),
		"GetPolicy":                             handle(s.getPolicy),
		"ListPolicies":                          handle(s.listPolicies),
		"DeletePolicy":                          handle(s.deletePolicy),
		"CreatePolicyVersion":                   handle(s.createPolicyVersion),
		"GetPolicyVersion":                      handle(s.getPolicyVersion),
		"ListPolicyVersions":                    handle(s.listPolicyVersions),
		"DeletePolicyVersion":                   handle(s.deletePolicyVersion),
		"SetDefaultPolicyVersion":               handle(s.setDefaultPolicyVersion),
		"ListEntitiesForPolicy":                 handle(s.listEntitiesForPolicy),
		"TagPolicy":                             handle(s.tagPolicy),
		"UntagPolicy":                           handle(s.untagPolicy),
		"ListPolicyTags":                        handle(s.listPolicyTags),
		"CreateInstanceProfile":                 handle(s.createInstanceProfile),
		"GetInstanceProfile":                    handle(s.getInstanceProfile),
		"ListInstanceProfiles":                  handle(s.listInstanceProfiles),
		"ListInstanceProfilesForRole":           handle(s.listInstanceProfilesForRole),
		"DeleteInstanceProfile":                 handle(s.deleteInstanceProfile),
		"AddRoleToInstanceProfile":              handle(s.addRoleToInstanceProfile),
		"RemoveRoleFromInstanceProfile":         handle(s.removeRoleFromInstanceProfile),
		"CreateOpenIDConnectProvider":           handle(s.createProvider),
		"GetOpenIDConnectProvider":              handle(s.getProvider),
		"ListOpenIDConnectProviders":            handle(s.listProviders),
		"DeleteOpenIDConnectProvider":           handle(s.deleteProvider),
		"AddClientIDToOpenIDConnectProvider":    handle(s.addClientID),
		"UpdateOpenIDConnectProviderThumbprint": handle(s.updateThumbprints),
		"UpdateUser":                            handle(s.updateUser),
		"UpdateGroup":                           handle(s.updateGroup),
		"TagInstanceProfile":                    handle(s.tagProfile),
		"UntagInstanceProfile":                  handle(s.untagProfile),
		"ListInstanceProfileTags":               handle(s.listProfileTags),
		"CreateServiceLinkedRole":               handle(s.createServiceLinkedRole),
		"DeleteServiceLinkedRole":               handle(s.deleteServiceLinkedRole),
		"GetServiceLinkedRoleDeletionStatus":    handle(s.serviceLinkedDeletion),
		"ListAccountAliases":                    handle(listAccountAliases),
	}
}

type aliases struct {
	Aliases []string `json:"AccountAliases"`
	paged
}

// listAccountAliases responds that the account has no alias.
func listAccountAliases(aws.Scope, *struct {
	Marker   string
	MaxItems int
}) (*aliases, error) {
	return &aliases{Aliases: []string{}}, nil
}
