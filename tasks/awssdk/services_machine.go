package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/applicationautoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ecr"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
)

// machineServices run machines, and what stands before them. Of the large ones only what state machines call is here.
var machineServices = []Service{
	{
		Name: "applicationautoscaling", ID: "Application Auto Scaling", Variable: "APPLICATION_AUTO_SCALING_ENDPOINT",
		Class: "ApplicationAutoScaling",
		Client: func(cfg aws.Config) any {
			c := applicationautoscaling.NewFromConfig(cfg)
			return actions{
				c.DeregisterScalableTarget, c.DescribeScalableTargets, c.DescribeScalingPolicies,
				c.DescribeScheduledActions,
				c.PutScalingPolicy, c.PutScheduledAction, c.RegisterScalableTarget,
			}
		},
	},
	{
		Name: "autoscaling", ID: "Auto Scaling", Variable: "AUTO_SCALING_ENDPOINT", Class: "AutoScaling",
		Client: func(cfg aws.Config) any {
			c := autoscaling.NewFromConfig(cfg)
			return actions{
				c.CompleteLifecycleAction, c.DescribeAutoScalingGroups, c.DescribeAutoScalingInstances,
				c.DescribeInstanceRefreshes,
				c.DetachInstances, c.PutScheduledUpdateGroupAction, c.RecordLifecycleActionHeartbeat, c.ResumeProcesses,
				c.SetDesiredCapacity, c.StartInstanceRefresh, c.SuspendProcesses, c.TerminateInstanceInAutoScalingGroup,
				c.UpdateAutoScalingGroup,
			}
		},
	},
	{
		Name: "ec2", ID: "EC2", Variable: "EC2_ENDPOINT", Class: "Ec2",
		Client: func(cfg aws.Config) any {
			c := ec2.NewFromConfig(cfg)
			return actions{
				c.AssociateAddress, c.AttachVolume, c.AuthorizeSecurityGroupEgress, c.AuthorizeSecurityGroupIngress,
				c.CopyImage,
				c.CreateImage, c.CreateLaunchTemplateVersion, c.CreateSecurityGroup, c.CreateSnapshot,
				c.CreateSnapshots, c.CreateTags,
				c.CreateVolume, c.DeleteNetworkInterface, c.DeleteSecurityGroup, c.DeleteSnapshot, c.DeleteTags,
				c.DeleteVolume,
				c.DeregisterImage, c.DescribeAddresses, c.DescribeAvailabilityZones, c.DescribeImages,
				c.DescribeInstanceStatus,
				c.DescribeInstanceTypes, c.DescribeInstances, c.DescribeNetworkInterfaces, c.DescribeRegions,
				c.DescribeRouteTables,
				c.DescribeSecurityGroups, c.DescribeSnapshots, c.DescribeSubnets, c.DescribeTags, c.DescribeVolumes,
				c.DescribeVpcs,
				c.DetachVolume, c.DisassociateAddress, c.GetConsoleOutput, c.ModifyImageAttribute,
				c.ModifyInstanceAttribute,
				c.ModifyNetworkInterfaceAttribute, c.ModifySnapshotAttribute, c.ModifyVolume, c.RebootInstances,
				c.ReleaseAddress,
				c.RevokeSecurityGroupEgress, c.RevokeSecurityGroupIngress, c.RunInstances, c.StartInstances,
				c.StopInstances,
				c.TerminateInstances,
			}
		},
	},
	{
		Name: "ecr", ID: "ECR", Variable: "ECR_ENDPOINT", Class: "Ecr",
		Client: func(cfg aws.Config) any {
			c := ecr.NewFromConfig(cfg)
			return actions{
				c.BatchDeleteImage, c.BatchGetImage, c.CreateRepository, c.DeleteRepository,
				c.DescribeImageScanFindings,
				c.DescribeImages, c.DescribeRepositories, c.GetAuthorizationToken, c.ListImages, c.PutImage,
				c.StartImageScan,
			}
		},
	},
	{
		Name: "elasticloadbalancingv2", ID: "Elastic Load Balancing v2", Variable: "ELASTIC_LOAD_BALANCING_V2_ENDPOINT",
		Class: "ElasticLoadBalancingV2",
		Client: func(cfg aws.Config) any {
			c := elasticloadbalancingv2.NewFromConfig(cfg)
			return actions{
				c.DeregisterTargets, c.DescribeListeners, c.DescribeLoadBalancers, c.DescribeRules,
				c.DescribeTargetGroups,
				c.DescribeTargetHealth, c.ModifyListener, c.ModifyRule, c.ModifyTargetGroup, c.RegisterTargets,
				c.SetRulePriorities,
			}
		},
	},
}
