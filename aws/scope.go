package aws

import (
	"slices"
	"strings"
)

// Scope is an account and a region. Resources are visible only within their scope.
type Scope struct {
	Account string // twelve digits
	Region  string // such as eu-west-1
}

// Partition returns the partition of the scope's region.
func (s Scope) Partition() string { return Partition(s.Region) }

// ARN returns the ARN of a resource of the scope, arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE. resource is
// everything after the account, such as function:resize or topic.
func (s Scope) ARN(service, resource string) string {
	return "arn:" + s.Partition() + ":" + service + ":" + s.Region + ":" + s.Account + ":" + resource
}

// GlobalARN returns the ARN of a resource of the account without a region, as in IAM.
func (s Scope) GlobalARN(service, resource string) string {
	return "arn:" + s.Partition() + ":" + service + "::" + s.Account + ":" + resource
}

// BucketARN returns the ARN of an S3 bucket, which contains neither a region nor an account.
func (s Scope) BucketARN(bucket string) string { return "arn:" + s.Partition() + ":s3:::" + bucket }

// Commercial is the partition of most regions, and of unknown regions.
const Commercial = "aws"

// partitions maps prefixes of region names to partitions, as in the AWS SDKs.
var partitions = []struct{ prefix, partition, domain string }{
	{"cn-", "aws-cn", "amazonaws.com.cn"},
	{"us-gov-", "aws-us-gov", commercialDomain},
	{"us-iso-", "aws-iso", "c2s.ic.gov"},
	{"us-isob-", "aws-iso-b", "sc2s.sgov.gov"},
	{"eu-isoe-", "aws-iso-e", "cloud.adc-e.uk"},
	{"us-isof-", "aws-iso-f", "csp.hci.ic.gov"},
	{"eusc-", "aws-eusc", "amazonaws.eu"},
}

const commercialDomain = "amazonaws.com"

// Partition returns the partition of a region, the second part of an ARN: aws-cn for cn-north-1, aws for us-east-1.
func Partition(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition
		}
	}
	return Commercial
}

// Partitions returns all partitions.
func Partitions() []string {
	all := []string{Commercial}
	for _, p := range partitions {
		if !slices.Contains(all, p.partition) {
			all = append(all, p.partition)
		}
	}
	return all
}

// Domain returns the domain of a region's hosts: amazonaws.com.cn for cn-north-1, amazonaws.com for us-east-1.
func Domain(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.domain
		}
	}
	return commercialDomain
}
