"""Autoscalers in both versions, and the Scale that they would turn.

The metrics of v1 are in no field: its objects carry them as JSON in annotations.
`schema/notation.py` explains the notation.
"""

TEXT = """
[autoscaling]
Scale object
    metadata ObjectMeta; spec ScaleSpec; status ScaleStatus
ScaleSpec
    replicas int32 =0
ScaleStatus
    replicas! int32; selector string
CrossVersionObjectReference atomic
    kind!, name!, apiVersion string
HorizontalPodAutoscaler object
    metadata ObjectMeta; spec!? HorizontalPodAutoscalerSpec; status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec
    scaleTargetRef! CrossVersionObjectReference; minReplicas *int32; maxReplicas! int32;
    targetCPUUtilizationPercentage *int32
HorizontalPodAutoscalerStatus
    observedGeneration *int64; lastScaleTime *Time; currentReplicas!, desiredReplicas! int32;
    currentCPUUtilizationPercentage *int32
MetricSpec
    type! string; object *ObjectMetricSource; pods *PodsMetricSource;
    resource *ResourceMetricSource; containerResource *ContainerResourceMetricSource;
    external *ExternalMetricSource
ObjectMetricSource
    target! CrossVersionObjectReference; metricName! string; targetValue! Quantity;
    selector *LabelSelector; averageValue *Quantity
PodsMetricSource
    metricName! string; targetAverageValue! Quantity; selector *LabelSelector
ResourceMetricSource
    name! ResourceName; targetAverageUtilization *int32; targetAverageValue *Quantity
ContainerResourceMetricSource
    ...ResourceMetricSource; container! string
ExternalMetricSource
    metricName! string; metricSelector *LabelSelector;
    targetValue, targetAverageValue *Quantity
MetricStatus
    type! string; object *ObjectMetricStatus; pods *PodsMetricStatus;
    resource *ResourceMetricStatus; containerResource *ContainerResourceMetricStatus;
    external *ExternalMetricStatus
ObjectMetricStatus
    target! CrossVersionObjectReference; metricName! string; currentValue! Quantity;
    selector *LabelSelector; averageValue *Quantity
PodsMetricStatus
    metricName! string; currentAverageValue! Quantity; selector *LabelSelector
ResourceMetricStatus
    name! ResourceName; currentAverageUtilization *int32; currentAverageValue! Quantity
ContainerResourceMetricStatus
    ...ResourceMetricStatus; container! string
ExternalMetricStatus
    metricName! string; metricSelector *LabelSelector; currentValue! Quantity;
    currentAverageValue *Quantity

[autoscaling/v2]
ScalingPolicySelect, HPAScalingPolicyType, MetricSourceType, MetricTargetType,
HorizontalPodAutoscalerConditionType = string
HorizontalPodAutoscaler object
    metadata ObjectMeta; spec!? HorizontalPodAutoscalerSpec; status HorizontalPodAutoscalerStatus
HorizontalPodAutoscalerSpec
    scaleTargetRef! CrossVersionObjectReference; minReplicas *int32; maxReplicas! int32;
    metrics []MetricSpec; behavior *HorizontalPodAutoscalerBehavior
CrossVersionObjectReference
    kind!, name!, apiVersion string
MetricSpec
    type! MetricSourceType; object *ObjectMetricSource; pods *PodsMetricSource;
    resource *ResourceMetricSource; containerResource *ContainerResourceMetricSource;
    external *ExternalMetricSource
HorizontalPodAutoscalerBehavior
    scaleUp, scaleDown *HPAScalingRules
HPAScalingRules
    stabilizationWindowSeconds *int32; selectPolicy *ScalingPolicySelect;
    policies []HPAScalingPolicy; tolerance *Quantity
HPAScalingPolicy
    type! HPAScalingPolicyType; value!, periodSeconds! int32
ObjectMetricSource
    describedObject! CrossVersionObjectReference; target! MetricTarget; metric! MetricIdentifier
PodsMetricSource
    metric! MetricIdentifier; target! MetricTarget
ResourceMetricSource
    name! ResourceName; target! MetricTarget
ContainerResourceMetricSource
    name! ResourceName; target! MetricTarget; container! string
ExternalMetricSource
    metric! MetricIdentifier; target! MetricTarget
MetricIdentifier
    name! string; selector *LabelSelector
MetricTarget
    type! MetricTargetType; value, averageValue *Quantity; averageUtilization *int32
HorizontalPodAutoscalerStatus
    observedGeneration *int64; lastScaleTime *Time; currentReplicas, desiredReplicas! int32;
    currentMetrics+ []MetricStatus; conditions []HorizontalPodAutoscalerCondition{type} merge
HorizontalPodAutoscalerCondition
    type! HorizontalPodAutoscalerConditionType; status! ConditionStatus; lastTransitionTime Time;
    reason, message string
MetricStatus
    type! MetricSourceType; object *ObjectMetricStatus; pods *PodsMetricStatus;
    resource *ResourceMetricStatus; containerResource *ContainerResourceMetricStatus;
    external *ExternalMetricStatus
ObjectMetricStatus
    metric! MetricIdentifier; current! MetricValueStatus;
    describedObject! CrossVersionObjectReference
PodsMetricStatus
    metric! MetricIdentifier; current! MetricValueStatus
ResourceMetricStatus
    name! ResourceName; current! MetricValueStatus
ContainerResourceMetricStatus
    name! ResourceName; current! MetricValueStatus; container! string
ExternalMetricStatus
    metric! MetricIdentifier; current! MetricValueStatus
MetricValueStatus
    value, averageValue *Quantity; averageUtilization *int32
"""
