// SPDX-License-Identifier: GPL-2.0-only
/*
 * File: what /dev/spindle and /dev/spindle-sst have in common. See file.h.
 */
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/spindle.h>

#include "base/engine.h"
#include "base/net.h"
#include "file.h"
#include "live/past.h"
#include "node/attachment.h"
#include "node/subgroup.h"

/**
 * spindle_file_open() - a device was opened
 * @inode: of the device
 * @file: the file
 *
 * Return: 0 or -ENOMEM
 */
int spindle_file_open(struct inode *inode, struct file *file)
{
	struct spindle_attachment *att = spindle_attachment_alloc(file);

	if (!att)
		return -ENOMEM;
	file->private_data = att;
	return nonseekable_open(inode, file);
}

/**
 * spindle_file_release() - the last reference to a file has gone
 * @inode: of the device
 * @file: the file
 *
 * Return: 0
 */
int spindle_file_release(struct inode *inode, struct file *file)
{
	spindle_attachment_free(file->private_data);
	return 0;
}

/**
 * spindle_file_args() - copy a request whose first word is its size
 * @args: out
 * @known: bytes of the request that this kernel knows
 * @least: bytes that every program knows
 * @user: the request of the process
 * @size: out: bytes that the process knows; it gets no more than these in a reply
 *
 * The process may have been compiled against a shorter or a longer struct. Bytes beyond our struct
 * must be zero.
 *
 * Return: 0, -EFAULT, -EPROTONOSUPPORT (it is shorter than @least), or -EINVAL
 */
int spindle_file_args(void *args, size_t known, size_t least, const void __user *user, u32 *size)
{
	int err;

	if (get_user(*size, (const u32 __user *)user))
		return -EFAULT;
	if (*size < least)
		return -EPROTONOSUPPORT;
	if (*size > PAGE_SIZE)
		return -EINVAL;
	err = copy_struct_from_user(args, known, user, *size);
	return err == -E2BIG ? -EINVAL : err;
}

/**
 * spindle_file_name() - the name of a subgroup in a request
 * @name: out; empty if the request has none
 * @user: its address in the process, or 0
 * @id: the subgroup's id in the request
 *
 * Return: 0, -EINVAL (both are given), -EFAULT, -ENAMETOOLONG, or -ENOENT (an empty name)
 */
int spindle_file_name(char name[SPINDLE_NAME_LEN + 1], u64 user, u32 id)
{
	long len;

	name[0] = 0;
	if (!user)
		return 0;
	if (id)
		return -EINVAL;
	len = strncpy_from_user(name, u64_to_user_ptr(user), SPINDLE_NAME_LEN + 1);
	if (len < 0)
		return len;
	if (len > SPINDLE_NAME_LEN)
		return -ENAMETOOLONG;
	return len ? 0 : -ENOENT;
}

/**
 * spindle_file_kick() - wake the engine of an attachment
 * @att: the attachment
 *
 * Return: 0, or -ENOTCONN: the file is not attached
 */
long spindle_file_kick(struct spindle_attachment *att)
{
	/* Pairs with the release in spindle_attachment_publish(). */
	struct spindle_engine *engine = smp_load_acquire(&att->engine);

	if (!engine)
		return -ENOTCONN;
	if (spindle_engine_wake(engine))
		atomic64_inc(&engine->stats.kicks);
	return 0;
}

/**
 * spindle_file_seats() - SPINDLE_IOC_SEATS
 * @att: the attachment
 * @arg: struct spindle_seats of the process
 *
 * Return: 0, or an error as listed in <linux/spindle.h>
 */
long spindle_file_seats(struct spindle_attachment *att, void __user *arg)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	struct spindle_seats args;
	struct spindle_net *sn;
	int err = -ENOTCONN;
	u32 room;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	if (args.resv)
		return -EINVAL;
	room = args.count;
	sn = spindle_attachment_lock(att);
	if (!sn)
		return -ENOTCONN;
	if (att->sg)
		err = spindle_past_seats(att->sg, &args, seat);
	spindle_net_unlock(sn);
	if (err)
		return err;
	if (copy_to_user(arg, &args, sizeof(args)))
		return -EFAULT;
	if (room < args.count)
		return -ENOSPC;
	if (copy_to_user(u64_to_user_ptr(args.ptr), seat, args.count * sizeof(*seat)))
		return -EFAULT;
	return 0;
}

/**
 * spindle_file_mmap() - map a part of an attachment
 * @file: the file
 * @vma: offset is a cookie of the attach reply
 *
 * Return: as spindle_attachment_mmap()
 */
int spindle_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	return spindle_attachment_mmap(file->private_data, vma);
}

/**
 * spindle_file_poll() - wait for an attachment
 * @file: the file
 * @wait: the caller's wait queues
 *
 * Return: as spindle_attachment_poll()
 */
__poll_t spindle_file_poll(struct file *file, poll_table *wait)
{
	struct spindle_attachment *att = file->private_data;

	poll_wait(file, &att->wait, wait);
	return spindle_attachment_poll(att);
}
