package lambda

import (
	"context"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/services/lambda/eventsource"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

// codePath is the path prefix of the URLs in GetFunction's Code.Location.
const codePath = "/_stepback/lambda/code/"

// maxCode is the maximum size of a request that contains code, in bytes.
const maxCode = 70_167_211

// operations returns the implemented operations.
func (s *Service) operations() map[string]server.Operation {
	all := map[string]server.Operation{}
	for name, o := range map[string]struct {
		operation
		reads any // besides FunctionName
	}{
		"CreateFunction":                  {s.createFunction, functions.CreateInput{}},
		"ListFunctions":                   {s.listFunctions, server.Members{"FunctionVersion", "Marker", "MaxItems"}},
		"GetFunction":                     {s.getFunction, server.Members{"Qualifier"}},
		"DeleteFunction":                  {s.deleteFunction, server.Members{"Qualifier"}},
		"GetFunctionConfiguration":        {s.getFunctionConfiguration, server.Members{"Qualifier"}},
		"UpdateFunctionConfiguration":     {s.updateFunctionConfiguration, functions.UpdateConfigurationInput{}},
		"UpdateFunctionCode":              {s.updateFunctionCode, functions.UpdateCodeInput{}},
		"PublishVersion":                  {s.publishVersion, functions.PublishInput{}},
		"ListVersionsByFunction":          {s.listVersions, server.Members{"Marker", "MaxItems"}},
		"CreateAlias":                     {s.createAlias, functions.AliasInput{}},
		"ListAliases":                     {s.listAliases, server.Members{"FunctionVersion", "Marker", "MaxItems"}},
		"GetAlias":                        {s.getAlias, server.Members{"Name"}},
		"UpdateAlias":                     {s.updateAlias, server.Together{functions.AliasInput{}, server.Members{"Name"}}},
		"DeleteAlias":                     {s.deleteAlias, server.Members{"Name"}},
		"PutFunctionConcurrency":          {s.putConcurrency, concurrency{}},
		"DeleteFunctionConcurrency":       {s.deleteConcurrency, nil},
		"GetFunctionConcurrency":          {s.getConcurrency, nil},
		"GetFunctionCodeSigningConfig":    {s.getCodeSigningConfig, nil},
		"GetRuntimeManagementConfig":      {s.getRuntimeManagement, server.Members{"Qualifier"}},
		"PutRuntimeManagementConfig":      {s.putRuntimeManagement, server.Together{functions.RuntimeManagement{}, server.Members{"Qualifier"}}},
		"GetFunctionRecursionConfig":      {s.getRecursion, nil},
		"PutFunctionRecursionConfig":      {s.putRecursion, recursion{}},
		"ListTags":                        {s.listTags, server.Members{"Resource"}},
		"TagResource":                     {s.tagResource, server.Together{tagSet{}, server.Members{"Resource"}}},
		"UntagResource":                   {s.untagResource, server.Members{"Resource", "TagKeys"}},
		"AddPermission":                   {s.addPermission, server.Together{functions.PermissionInput{}, server.Members{"Qualifier"}}},
		"RemovePermission":                {s.removePermission, server.Members{"Qualifier", "StatementId", "RevisionId"}},
		"GetPolicy":                       {s.getPolicy, server.Members{"Qualifier"}},
		"PutFunctionEventInvokeConfig":    {s.putEventInvokeConfig, server.Together{functions.EventInvokeSettings{}, server.Members{"Qualifier"}}},
		"UpdateFunctionEventInvokeConfig": {s.updateEventInvokeConfig, server.Together{functions.EventInvokeSettings{}, server.Members{"Qualifier"}}},
		"GetFunctionEventInvokeConfig":    {s.getEventInvokeConfig, server.Members{"Qualifier"}},
		"DeleteFunctionEventInvokeConfig": {s.deleteEventInvokeConfig, server.Members{"Qualifier"}},
		"ListFunctionEventInvokeConfigs":  {s.listEventInvokeConfigs, server.Members{"Marker", "MaxItems"}},
		"GetAccountSettings":              {s.getAccountSettings, nil},
		"Invoke": {s.invoke, server.Members{"Qualifier", "ClientContext", "InvocationType", "LogType", "DurableExecutionName",
			"TenantId"}},
		"InvokeWithResponseStream":              {s.invokeStreaming, server.Members{"Qualifier", "ClientContext", "InvocationType", "LogType", "TenantId"}},
		"PublishLayerVersion":                   {s.publishLayer, server.Together{functions.LayerInput{}, server.Members{"LayerName"}}},
		"GetLayerVersion":                       {s.getLayer, server.Members{"LayerName", "VersionNumber"}},
		"GetLayerVersionByArn":                  {s.getLayerByArn, server.Members{"Arn"}},
		"DeleteLayerVersion":                    {s.deleteLayer, server.Members{"LayerName", "VersionNumber"}},
		"ListLayerVersions":                     {s.listLayerVersions, server.Members{"LayerName", "CompatibleRuntime", "CompatibleArchitecture", "Marker", "MaxItems"}},
		"ListLayers":                            {s.listLayers, server.Members{"CompatibleRuntime", "CompatibleArchitecture", "Marker", "MaxItems"}},
		"AddLayerVersionPermission":             {s.addLayerPermission, server.Together{functions.LayerPermissionInput{}, server.Members{"LayerName", "VersionNumber"}}},
		"RemoveLayerVersionPermission":          {s.removeLayerPermission, server.Members{"LayerName", "VersionNumber", "StatementId", "RevisionId"}},
		"GetLayerVersionPolicy":                 {s.getLayerPolicy, server.Members{"LayerName", "VersionNumber"}},
		"CreateFunctionUrlConfig":               {s.createURL, server.Together{functions.URLSettings{}, server.Members{"Qualifier"}}},
		"UpdateFunctionUrlConfig":               {s.updateURL, server.Together{functions.URLSettings{}, server.Members{"Qualifier"}}},
		"GetFunctionUrlConfig":                  {s.getURL, server.Members{"Qualifier"}},
		"DeleteFunctionUrlConfig":               {s.deleteURL, server.Members{"Qualifier"}},
		"ListFunctionUrlConfigs":                {s.listURLs, server.Members{"Marker", "MaxItems"}},
		"PutProvisionedConcurrencyConfig":       {s.putProvisioned, server.Members{"Qualifier", "ProvisionedConcurrentExecutions"}},
		"GetProvisionedConcurrencyConfig":       {s.getProvisioned, server.Members{"Qualifier"}},
		"DeleteProvisionedConcurrencyConfig":    {s.deleteProvisioned, server.Members{"Qualifier"}},
		"ListProvisionedConcurrencyConfigs":     {s.listProvisioned, server.Members{"Marker", "MaxItems"}},
		"CreateEventSourceMapping":              {s.mapping(s.createMapping), eventsource.CreateInput{}},
		"GetEventSourceMapping":                 {s.mapping(s.getMapping), server.Members{"UUID"}},
		"UpdateEventSourceMapping":              {s.mapping(s.updateMapping), server.Together{eventsource.UpdateInput{}, server.Members{"UUID"}}},
		"DeleteEventSourceMapping":              {s.mapping(s.deleteMapping), server.Members{"UUID"}},
		"ListEventSourceMappings":               {s.mapping(s.listMappings), server.Members{"EventSourceArn", "Marker", "MaxItems"}},
		"CheckpointDurableExecution":            {s.durably(s.checkpoint), server.Together{checkpointInput{}, execution}},
		"GetDurableExecution":                   {s.durably(s.getExecution), server.Together{dataInput{}, execution}},
		"GetDurableExecutionHistory":            {s.durably(s.getExecutionHistory), server.Together{historyInput{}, execution}},
		"GetDurableExecutionState":              {s.durably(s.getExecutionState), server.Together{stateInput{}, execution}},
		"ListDurableExecutionsByFunction":       {s.durably(s.listExecutions), listExecutionsInput{}},
		"SendDurableExecutionCallbackSuccess":   {s.durably(s.callbackSucceeds), server.Members{"CallbackId"}},
		"SendDurableExecutionCallbackFailure":   {s.durably(s.callbackFails), server.Members{"CallbackId", "Error"}},
		"SendDurableExecutionCallbackHeartbeat": {s.durably(s.callbackLives), server.Members{"CallbackId"}},
		"StopDurableExecution":                  {s.durably(s.stopExecution), server.Together{server.Members{"Error"}, execution}},
	} {
		made := server.Operation{Reads: server.Together{server.Members{"FunctionName"}, o.reads}, Call: func(ctx context.Context, r *server.Request) (*server.Answer, error) {
			q, err := requestOf(ctx, r)
			if err != nil {
				return nil, err
			}
			return o.operation(q)
		}}
		switch name {
		case "CreateFunction", "UpdateFunctionCode", "PublishLayerVersion":
			made.MaxBody = maxCode
		case "Invoke", "InvokeWithResponseStream":
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
