module stepback/adaptive/lab/differential

go 1.26.0

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0
	github.com/aws/smithy-go v1.28.9
	github.com/failsafe-go/failsafe-go v0.9.8
	pgregory.net/rapid v1.3.0
	stepback v0.0.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace stepback => ../../..
