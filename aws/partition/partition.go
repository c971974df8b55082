// Package partition knows which partition of AWS a region is in, which is the second part of every ARN. It never asks
// anybody: the names of regions tell.
package partition

import "strings"

// Commercial is the partition of most regions, and of regions with unknown names.
const Commercial = "aws"

// others are the partitions of regions whose names begin in a certain way, as the AWS SDKs tell them apart.
var others = []struct{ prefix, partition string }{
	{"cn-", "aws-cn"},
	{"us-gov-", "aws-us-gov"},
	{"us-iso-", "aws-iso"},
	{"us-isob-", "aws-iso-b"},
	{"eu-isoe-", "aws-iso-e"},
	{"us-isof-", "aws-iso-f"},
	{"eusc-", "aws-eusc"},
}

// Of is the partition of a region: aws-cn of cn-north-1, aws of us-east-1.
func Of(region string) string {
	for _, o := range others {
		if strings.HasPrefix(region, o.prefix) {
			return o.partition
		}
	}
	return Commercial
}
