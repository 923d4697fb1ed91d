#pragma once
#include "tendril/documents/schema.h"

/// The tables of the scene format: every key is declared here, once. Reading, editor completion and the reference page follow from them.
namespace tendril::scenes {

const Schema& material();
const Schema& section();
const Schema& curve();
const Schema& orientation();
const Schema& shell();
const Schema& beam();
const Schema& shape();
const Schema& body();
const Schema& obstacleShape();
const Schema& motion();
const Schema& obstacle();
const Schema& contact();
const Schema& marker();
const Schema& joint();
const Schema& spring();
const Schema& pointMass();
const Schema& load();
const Schema& actuator();
const Schema& manoeuvreTarget();
const Schema& manoeuvreOrientation();
const Schema& manoeuvreEnd();
const Schema& keyPose();
const Schema& gravity();
const Schema& analysis();
const Schema& output();
const Schema& uncertainInput();
const Schema& miss();
const Schema& freeParameter();
const Schema& betterControls();
const Schema& certify();
const Schema& referenceValues();
const Schema& expectedOutput();
const Schema& parameterRange();
const Schema& studyPicture();
const Schema& picture();
const Schema& scene();

}
