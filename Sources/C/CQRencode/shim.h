/* libqrencode: QR codes. Only QRCode imports this. */
#pragma once
#include <qrencode.h>
