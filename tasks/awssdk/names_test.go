package awssdk

import "testing"

func TestMemberName(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"BOOL": "Bool", "NULL": "Nul", "SS": "Ss", "S": "S", "ETag": "ETag", "ChecksumCRC32": "ChecksumCRC32",
		"SSEKMSKeyId":      "SsekmsKeyId",
		"MD5OfMessageBody": "Md5OfMessageBody", "ExecutionArn": "ExecutionArn", "ARN": "Arn",
		"DBInstances": "DbInstances", "": "",
		"Equals": "EqualsValue", "Default": "DefaultValue", "NotEquals": "NotEquals",
		"DBInstanceIdentifier": "DbInstanceIdentifier",
		"Public":               "PublicValue", "VPCId": "VpcId",
	} {
		if got := MemberName(model); got != want {
			t.Errorf("%s becomes %s, want %s", model, got, want)
		}
	}
}

func TestExceptionName(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"NoSuchKey": "NoSuchKeyException", "ResourceNotFoundException": "ResourceNotFoundException",
		"KMSInternalException": "KmsInternalException", "StateMachineDoesNotExist": "StateMachineDoesNotExistException",
		"ServiceFault": "ServiceException", "ObjectNotInActiveTierError": "ObjectNotInActiveTierErrorException",
		"InvalidARNFault": "InvalidArnException", "DBInstanceNotFoundFault": "DbInstanceNotFoundException",
		"EC2ThrottledException": "Ec2ThrottledException", "InvalidS3ObjectException": "InvalidS3ObjectException",
		"AWSOrganizationsNotInUseException": "AwsOrganizationsNotInUseException", "EFSIOException": "EfsioException",
	} {
		if got := exceptionName(model); got != want {
			t.Errorf("%s becomes %s, want %s", model, got, want)
		}
	}
}
