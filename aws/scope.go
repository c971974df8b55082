package aws

import "strings"

// Scope is an account and a region. Resources of one scope do not see those of another.
type Scope struct {
	Account string // twelve digits
	Region  string // such as eu-west-1
}

// Partition is the partition of the scope's region.
func (s Scope) Partition() string { return Partition(s.Region) }

// ARN is the text of the ARN of a resource of the scope, arn:PARTITION:SERVICE:REGION:ACCOUNT:RESOURCE. The resource
// has everything behind the account, such as function:resize or topic.
func (s Scope) ARN(service, resource string) string {
	return "arn:" + s.Partition() + ":" + service + ":" + s.Region + ":" + s.Account + ":" + resource
}

// GlobalARN is the text of the ARN of a resource of the account that is in no region, as those of IAM are.
func (s Scope) GlobalARN(service, resource string) string {
	return "arn:" + s.Partition() + ":" + service + "::" + s.Account + ":" + resource
}

// BucketARN is the ARN of an S3 bucket, which names neither a region nor an account.
func (s Scope) BucketARN(bucket string) string { return "arn:" + s.Partition() + ":s3:::" + bucket }

// Commercial is the partition of most regions, and of regions with unknown names.
const Commercial = "aws"

// partitions are those of regions whose names begin in a certain way, as the AWS SDKs tell them apart.
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

// Partition is the partition of a region, the second part of an ARN: aws-cn of cn-north-1, aws of us-east-1.
func Partition(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.partition
		}
	}
	return Commercial
}

// Domain is the domain of a region's hosts: amazonaws.com.cn of cn-north-1, amazonaws.com of us-east-1.
func Domain(region string) string {
	for _, p := range partitions {
		if strings.HasPrefix(region, p.prefix) {
			return p.domain
		}
	}
	return commercialDomain
}
