/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File: what /dev/spindle and /dev/spindle-sst have in common. An open file of either is a struct
 * spindle_attachment.
 *
 * Context: process. User memory is touched before or after the work, never under a lock.
 */
#ifndef SPINDLE_DEV_FILE_H
#define SPINDLE_DEV_FILE_H

#include <linux/poll.h>
#include <linux/spindle_genl.h>

struct file;
struct inode;
struct spindle_attachment;
struct vm_area_struct;

int spindle_file_open(struct inode *inode, struct file *file);
int spindle_file_release(struct inode *inode, struct file *file);
int spindle_file_mmap(struct file *file, struct vm_area_struct *vma);
__poll_t spindle_file_poll(struct file *file, poll_table *wait);
int spindle_file_args(void *args, size_t known, size_t least, const void __user *user, u32 *size);
int spindle_file_name(char name[SPINDLE_NAME_LEN + 1], u64 user, u32 id);
long spindle_file_kick(struct spindle_attachment *att);
long spindle_file_seats(struct spindle_attachment *att, void __user *arg);

#endif /* SPINDLE_DEV_FILE_H */
