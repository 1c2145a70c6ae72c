"""Workloads and pod groups: pods that are scheduled together.

`schema/notation.py` explains the notation.
"""

TEXT = """
[scheduling/v1alpha2]
DisruptionMode = Pod | PodGroup
Workload object
    metadata ObjectMeta; spec! WorkloadSpec
WorkloadSpec
    controllerRef *TypedLocalObjectReference; podGroupTemplates! []PodGroupTemplate{name}
TypedLocalObjectReference
    apiGroup, kind!, name! string
PodGroupTemplate
    name! string; schedulingPolicy! PodGroupSchedulingPolicy;
    schedulingConstraints+ *PodGroupSchedulingConstraints;
    resourceClaims []PodGroupResourceClaim{name} merge retainKeys; disruptionMode *DisruptionMode;
    priorityClassName string; priority *int32
PodGroupSchedulingPolicy
    basic *BasicSchedulingPolicy; gang *GangSchedulingPolicy
BasicSchedulingPolicy
GangSchedulingPolicy
    minCount! int32
PodGroupResourceClaim
    name! string; resourceClaimName, resourceClaimTemplateName *string
PodGroup object
    metadata ObjectMeta; spec! PodGroupSpec; status PodGroupStatus
PodGroupSpec
    podGroupTemplateRef+ *PodGroupTemplateReference; schedulingPolicy! PodGroupSchedulingPolicy;
    schedulingConstraints *PodGroupSchedulingConstraints;
    resourceClaims []PodGroupResourceClaim{name} merge retainKeys;
    disruptionMode *DisruptionMode =Pod; priorityClassName string; priority *int32
PodGroupStatus
    conditions []Condition{type} merge;
    resourceClaimStatuses []PodGroupResourceClaimStatus{name} merge retainKeys
PodGroupResourceClaimStatus
    name! string; resourceClaimName *string
PodGroupTemplateReference
    workload+ *WorkloadPodGroupTemplateReference
WorkloadPodGroupTemplateReference
    workloadName!, podGroupTemplateName! string
PodGroupSchedulingConstraints
    topology []TopologyConstraint
TopologyConstraint
    key! string
"""
