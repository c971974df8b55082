package retry

import "strings"

// awsRule covers error codes of one service, or of all services if service is empty.
type awsRule struct {
	service string
	codes   []string
	verdict verdict
}

// awsRules are tried in order; a service's own codes come first.
var awsRules = []awsRule{
	{"S3", []string{"SlowDown"}, verdict{S3SlowDown, Transient}},
	{"S3", []string{"ServiceUnavailable"}, verdict{S3ServiceUnavailable, Transient}},
	{"S3", []string{"InternalError"}, verdict{S3InternalError, UnknownOutcome}},
	{"S3", []string{"NoSuchKey", "NoSuchBucket", "NoSuchVersion", "NotFound"}, verdict{InvalidInput, Permanent}},
	{"S3", []string{"OperationAborted", "ConditionalRequestConflict"}, verdict{ConcurrentModificationException,
		Conflict}},
	{"S3", []string{"PreconditionFailed"}, verdict{OptimisticLockException, Conflict}},
	{"S3", []string{"QuotaExceeded"}, verdict{StorageError, Permanent}},

	{"Lambda", []string{"ServiceException"}, verdict{LambdaServiceException, UnknownOutcome}},
	{"Lambda", []string{"ThrottledException"}, verdict{LambdaThrottledException, Transient}},
	{"Lambda", []string{"TooManyRequestsException", "EC2ThrottledException"}, verdict{LambdaTooManyRequestsException,
		Transient}},
	{"Lambda", []string{"ResourceNotReadyException", "ENILimitReachedException", "EC2UnexpectedException",
		"EFSMountTimeoutException", "SnapStartTimeoutException", "SnapStartNotReadyException"},
		verdict{LambdaAWSLambdaException, Transient}},

	{"DynamoDB", []string{"TransactionConflictException", "TransactionCanceledException"},
		verdict{ConcurrentModificationException, Conflict}},
	{"DynamoDB", []string{"ConditionalCheckFailedException"}, verdict{OptimisticLockException, Conflict}},

	{"", []string{"SlowDown"}, verdict{S3SlowDown, Transient}},
	{"", []string{"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
		"RequestThrottled", "TooManyRequestsException", "ProvisionedThroughputExceededException",
		"TransactionInProgressException", "RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException",
		"PriorRequestNotComplete", "EC2ThrottledException"}, verdict{TooManyRequestsError, Transient}},
	{"", []string{"RequestTimeout", "RequestTimeoutException"}, verdict{TimeoutError, Transient}},
	{"", []string{"ServiceUnavailable", "ServiceUnavailableException"}, verdict{ServiceUnavailableError, Transient}},
	{"", []string{"InternalError", "InternalErrorException", "InternalFailure", "InternalServerError",
		"InternalServerException", "ServiceException"}, verdict{InternalServerError, UnknownOutcome}},
	{"", []string{"AccessDenied", "AccessDeniedException", "AuthorizationError", "AuthFailure", "ExpiredToken",
		"ExpiredTokenException", "Forbidden", "IncompleteSignature", "InvalidAccessKeyId", "InvalidClientTokenId",
		"InvalidToken", "KMSAccessDeniedException", "MissingAuthenticationToken", "RequestTimeTooSkewed",
		"SignatureDoesNotMatch", "UnauthorizedOperation", "UnrecognizedClientException"},
		verdict{AccessDenied, Permanent}},
	{"", []string{"InvalidParameterValue", "InvalidParameterValueException", "InvalidRequestContentException",
		"MalformedXML", "MissingParameter", "RequestEntityTooLarge", "RequestTooLargeException",
		"ResourceNotFoundException", "SerializationException", "UnsupportedMediaTypeException", "ValidationError",
		"ValidationException"}, verdict{InvalidInput, Permanent}},
}

// ClassifyAWS classifies the error code of an AWS service by the service's name as the SDK spells it ("S3", "Lambda",
// "DynamoDB"; empty if unknown) and the code ("SlowDown"). It is false for a code that is not in the table: then the
// HTTP status decides.
func ClassifyAWS(service, code string) (Classification, bool) {
	for _, rule := range awsRules {
		if rule.service != "" && !strings.EqualFold(rule.service, service) {
			continue
		}
		for _, known := range rule.codes {
			if known == code {
				return rule.verdict.of(strings.TrimSpace("AWS code " + service + " " + code))
			}
		}
	}
	return Classification{}, false
}

// classifyAWSStatus classifies an AWS response that has no known code, for instance the response to a HEAD request.
func classifyAWSStatus(service string, status int) (Classification, bool) {
	c, ok := ClassifyHTTP(status)
	if !ok || !strings.EqualFold(service, "S3") {
		return c, ok
	}
	switch c.Error {
	case ServiceUnavailableError:
		c.Error = S3ServiceUnavailable
	case InternalServerError:
		c.Error = S3InternalError
	case TooManyRequestsError:
		c.Error = S3SlowDown
	}
	return c, true
}
