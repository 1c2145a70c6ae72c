"""Kinds that own pods, and what limits their disruption.

Groups apps, batch and policy.
`schema/notation.py` explains the notation.
"""

TEXT = """
[apps]
DaemonSetConditionType, DeploymentConditionType, PersistentVolumeClaimRetentionPolicyType,
ReplicaSetConditionType, StatefulSetConditionType = string
DaemonSetUpdateStrategyType = OnDelete | RollingUpdate
DeploymentStrategyType = Recreate | RollingUpdate
PodManagementPolicyType = OrderedReady | Parallel
StatefulSetUpdateStrategyType = OnDelete | RollingUpdate
Deployment object
    metadata ObjectMeta; spec DeploymentSpec; status DeploymentStatus
DeploymentSpec
    replicas *int32; selector! *LabelSelector; template! PodTemplateSpec;
    strategy DeploymentStrategy retainKeys; minReadySeconds int32; revisionHistoryLimit *int32;
    paused bool; progressDeadlineSeconds *int32
DeploymentStrategy
    type DeploymentStrategyType; rollingUpdate *RollingUpdateDeployment
RollingUpdateDeployment
    maxUnavailable, maxSurge *IntOrString
DeploymentStatus
    observedGeneration int64; replicas, updatedReplicas, readyReplicas, availableReplicas int32;
    unavailableReplicas int32; terminatingReplicas *int32;
    conditions []DeploymentCondition{type} merge; collisionCount *int32
DeploymentCondition
    type! DeploymentConditionType; status! ConditionStatus;
    lastUpdateTime, lastTransitionTime Time; reason, message string
ReplicaSet object
    metadata ObjectMeta; spec ReplicaSetSpec; status ReplicaSetStatus
ReplicaSetSpec
    replicas *int32; minReadySeconds int32; selector! *LabelSelector; template PodTemplateSpec
ReplicaSetStatus
    replicas!, fullyLabeledReplicas, readyReplicas, availableReplicas int32;
    terminatingReplicas *int32; observedGeneration int64;
    conditions []ReplicaSetCondition{type} merge
ReplicaSetCondition
    type! ReplicaSetConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string
StatefulSet object
    metadata ObjectMeta; spec StatefulSetSpec; status StatefulSetStatus
StatefulSetSpec
    replicas *int32; selector! *LabelSelector; template! PodTemplateSpec;
    volumeClaimTemplates []PersistentVolumeClaim; serviceName+ string;
    podManagementPolicy PodManagementPolicyType; updateStrategy StatefulSetUpdateStrategy;
    revisionHistoryLimit *int32; minReadySeconds int32;
    persistentVolumeClaimRetentionPolicy *StatefulSetPersistentVolumeClaimRetentionPolicy;
    ordinals *StatefulSetOrdinals
StatefulSetUpdateStrategy
    type StatefulSetUpdateStrategyType; rollingUpdate *RollingUpdateStatefulSetStrategy
RollingUpdateStatefulSetStrategy
    partition *int32; maxUnavailable *IntOrString
StatefulSetPersistentVolumeClaimRetentionPolicy
    whenDeleted, whenScaled PersistentVolumeClaimRetentionPolicyType
StatefulSetOrdinals
    start+ int32
StatefulSetStatus
    observedGeneration int64; replicas!, readyReplicas, currentReplicas, updatedReplicas int32;
    currentRevision, updateRevision string; collisionCount *int32;
    conditions []StatefulSetCondition{type} merge; availableReplicas+ int32
StatefulSetCondition
    type! StatefulSetConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string
DaemonSet object
    metadata ObjectMeta; spec DaemonSetSpec; status DaemonSetStatus
DaemonSetSpec
    selector! *LabelSelector; template! PodTemplateSpec; updateStrategy DaemonSetUpdateStrategy;
    minReadySeconds int32; revisionHistoryLimit *int32
DaemonSetUpdateStrategy
    type DaemonSetUpdateStrategyType; rollingUpdate *RollingUpdateDaemonSet
RollingUpdateDaemonSet
    maxUnavailable, maxSurge *IntOrString
DaemonSetStatus
    currentNumberScheduled!, numberMisscheduled!, desiredNumberScheduled! int32;
    numberReady! int32; observedGeneration int64;
    updatedNumberScheduled, numberAvailable, numberUnavailable int32; collisionCount *int32;
    conditions []DaemonSetCondition{type} merge
DaemonSetCondition
    type! DaemonSetConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string
ControllerRevision object
    metadata ObjectMeta; data RawExtension; revision! int64

[batch]
JobConditionType = string
CompletionMode = Indexed | NonIndexed
ConcurrencyPolicy = Allow | Forbid | Replace
PodFailurePolicyAction = Count | FailIndex | FailJob | Ignore
PodFailurePolicyOnExitCodesOperator = In | NotIn
PodReplacementPolicy = Failed | TerminatingOrFailed
Job object
    metadata ObjectMeta; spec JobSpec; status JobStatus
JobSpec
    parallelism, completions *int32; activeDeadlineSeconds *int64;
    podFailurePolicy *PodFailurePolicy; successPolicy *SuccessPolicy;
    backoffLimit, backoffLimitPerIndex, maxFailedIndexes *int32; selector *LabelSelector;
    manualSelector *bool; template! PodTemplateSpec; ttlSecondsAfterFinished *int32;
    completionMode *CompletionMode; suspend *bool; podReplacementPolicy *PodReplacementPolicy;
    managedBy *string
PodFailurePolicy
    rules! []PodFailurePolicyRule
PodFailurePolicyRule
    action! PodFailurePolicyAction; onExitCodes *PodFailurePolicyOnExitCodesRequirement;
    onPodConditions []PodFailurePolicyOnPodConditionsPattern
PodFailurePolicyOnExitCodesRequirement
    containerName *string; operator! PodFailurePolicyOnExitCodesOperator; values! []int32{}
PodFailurePolicyOnPodConditionsPattern
    type! PodConditionType; status+ ConditionStatus
SuccessPolicy
    rules! []SuccessPolicyRule
SuccessPolicyRule
    succeededIndexes *string; succeededCount *int32
JobStatus
    conditions []JobCondition merge=type; startTime, completionTime *Time;
    active, succeeded, failed int32; terminating *int32; completedIndexes string;
    failedIndexes *string; uncountedTerminatedPods *UncountedTerminatedPods; ready *int32
JobCondition
    type! JobConditionType; status! ConditionStatus; lastProbeTime, lastTransitionTime Time;
    reason, message string
UncountedTerminatedPods
    succeeded, failed []UID{}
CronJob object
    metadata ObjectMeta; spec!? CronJobSpec; status CronJobStatus
CronJobSpec
    schedule! string; timeZone *string; startingDeadlineSeconds *int64;
    concurrencyPolicy ConcurrencyPolicy; suspend *bool; jobTemplate! JobTemplateSpec;
    successfulJobsHistoryLimit, failedJobsHistoryLimit *int32
JobTemplateSpec
    metadata ObjectMeta; spec JobSpec
CronJobStatus
    active []ObjectReference; lastScheduleTime, lastSuccessfulTime *Time

[policy]
UnhealthyPodEvictionPolicyType = AlwaysAllow | IfHealthyBudget
PodDisruptionBudget object
    metadata ObjectMeta; spec PodDisruptionBudgetSpec; status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec
    minAvailable *IntOrString; selector *LabelSelector replace; maxUnavailable *IntOrString;
    unhealthyPodEvictionPolicy *UnhealthyPodEvictionPolicyType
PodDisruptionBudgetStatus
    observedGeneration int64; disruptedPods map[string]Time;
    disruptionsAllowed+, currentHealthy+, desiredHealthy+, expectedPods+ int32;
    conditions []Condition{type} merge
Eviction object
    metadata ObjectMeta; deleteOptions *DeleteOptions
"""
