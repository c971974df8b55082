package awssdk

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Service is one AWS service that tasks can call.
type Service struct {
	// Name is the service's in a Resource, arn:aws:states:::aws-sdk:NAME:action: the SDK for Java's name in lower case.
	Name string
	// ID is the SDK's name for the service, such as "Secrets Manager"; the variable AWS_ENDPOINT_URL_SECRETS_MANAGER is
	// made of it.
	ID string
	// Variable is what Step Functions Local calls the service's endpoint, such as SQS_ENDPOINT.
	Variable string
	// Class is the prefix of error names: that of the service's classes in the SDK for Java.
	Class string
	// Client makes the service's client.
	Client func(aws.Config) any

	unions []any // the members of its union types
	// document makes a member that is any JSON; nil for a service that has none.
	document func(v any) any
	modeled  []string // codes of errors that are the service's own although not every operation declares them
	// translated are the shapes that the SDK for Java throws instead of others, by operation and shape.
	translated map[string]string
	present    []string // maps of results that are there even when they are empty
	missing    func(member string) (code, message string)
}

// environment is the service's endpoint variable as the AWS SDKs name it.
func (s *Service) environment() string {
	return "AWS_ENDPOINT_URL_" + strings.ToUpper(strings.ReplaceAll(s.ID, " ", "_"))
}

// service finds a service by its name in a Resource; nil when there is none.
func service(name string) *Service {
	for i := range services {
		if services[i].Name == name {
			return &services[i]
		}
	}
	return nil
}

// Services lists the names of the services that aws-sdk tasks can call.
func Services() []string {
	names := make([]string, len(services))
	for i := range services {
		names[i] = services[i].Name
	}
	return names
}
