package lambda

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// CodePath is the path prefix of the URLs in GetFunction's Code.Location.
const CodePath = "/_stepback/lambda/code/"

// maxCode is the maximum size of a request that contains code, in bytes.
const maxCode = 70_167_211

// operations returns the implemented operations.
func (s *Service) operations() map[string]server.Operation {
	all := map[string]server.Operation{}
	for name, o := range map[string]operation{
		"CreateFunction": s.createFunction, "ListFunctions": s.listFunctions, "GetFunction": s.getFunction,
		"DeleteFunction": s.deleteFunction, "GetFunctionConfiguration": s.getFunctionConfiguration,
		"UpdateFunctionConfiguration": s.updateFunctionConfiguration, "UpdateFunctionCode": s.updateFunctionCode,
		"PublishVersion": s.publishVersion, "ListVersionsByFunction": s.listVersions,
		"CreateAlias": s.createAlias, "ListAliases": s.listAliases, "GetAlias": s.getAlias,
		"UpdateAlias": s.updateAlias, "DeleteAlias": s.deleteAlias,
		"PutFunctionConcurrency": s.putConcurrency, "DeleteFunctionConcurrency": s.deleteConcurrency,
		"GetFunctionConcurrency": s.getConcurrency, "GetFunctionCodeSigningConfig": s.getCodeSigningConfig,
		"GetRuntimeManagementConfig": s.getRuntimeManagement, "PutRuntimeManagementConfig": s.putRuntimeManagement,
		"GetFunctionRecursionConfig": s.getRecursion, "PutFunctionRecursionConfig": s.putRecursion,
		"ListTags": s.listTags, "TagResource": s.tagResource, "UntagResource": s.untagResource,
		"AddPermission": s.addPermission, "RemovePermission": s.removePermission, "GetPolicy": s.getPolicy,
		"PutFunctionEventInvokeConfig":    s.putEventInvokeConfig,
		"UpdateFunctionEventInvokeConfig": s.updateEventInvokeConfig,
		"GetFunctionEventInvokeConfig":    s.getEventInvokeConfig,
		"DeleteFunctionEventInvokeConfig": s.deleteEventInvokeConfig,
		"ListFunctionEventInvokeConfigs":  s.listEventInvokeConfigs,
		"GetAccountSettings":              s.getAccountSettings, "Invoke": s.invoke,
		"PublishLayerVersion": s.publishLayer, "GetLayerVersion": s.getLayer, "GetLayerVersionByArn": s.getLayerByArn,
		"DeleteLayerVersion": s.deleteLayer, "ListLayerVersions": s.listLayerVersions, "ListLayers": s.listLayers,
		"AddLayerVersionPermission": s.addLayerPermission, "RemoveLayerVersionPermission": s.removeLayerPermission,
		"GetLayerVersionPolicy":   s.getLayerPolicy,
		"CreateFunctionUrlConfig": s.createURL, "UpdateFunctionUrlConfig": s.updateURL,
		"GetFunctionUrlConfig": s.getURL, "DeleteFunctionUrlConfig": s.deleteURL, "ListFunctionUrlConfigs": s.listURLs,
		"PutProvisionedConcurrencyConfig": s.putProvisioned, "GetProvisionedConcurrencyConfig": s.getProvisioned,
		"DeleteProvisionedConcurrencyConfig": s.deleteProvisioned,
		"ListProvisionedConcurrencyConfigs":  s.listProvisioned,
		"CreateEventSourceMapping":           s.mapping(s.createMapping), "GetEventSourceMapping": s.mapping(s.getMapping),
		"UpdateEventSourceMapping": s.mapping(s.updateMapping), "DeleteEventSourceMapping": s.mapping(s.deleteMapping),
		"ListEventSourceMappings": s.mapping(s.listMappings),
	} {
		made := server.Operation{Call: func(ctx context.Context, r *server.Request) (*server.Answer, error) {
			q, err := requestOf(ctx, r)
			if err != nil {
				return nil, err
			}
			return o(q)
		}}
		switch name {
		case "CreateFunction", "UpdateFunctionCode", "PublishLayerVersion":
			made.MaxBody = maxCode
		case "Invoke":
			made.MaxBody, made.TooLarge = invocation.MaxRequestBytes, runner.RequestTooLarge()
		}
		all[name] = made
	}
	return all
}

// operation implements one operation of the API.
type operation func(*request) (*server.Answer, error)

// answer returns an operation's response.
func answer(output any, err error) (*server.Answer, error) {
	if err != nil {
		return nil, err
	}
	return &server.Answer{Output: output}, nil
}

// done returns the response of an operation that returns nothing.
func done(err error) (*server.Answer, error) { return answer(nil, err) }

func unparsable(reason string) *aws.Error {
	return &aws.Error{
		Code: "InvalidRequestContentException", Message: "Could not parse request body into json: " + reason,
	}
}
